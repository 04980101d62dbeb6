/**
 * What has to be undone before the process may end: servers stopped, folders deleted. Whatever starts something puts
 * its end here first, so that an interrupt and a failure leave nothing behind.
 *
 * @module
 */

export type Step = () => Promise<void>

export interface Cleanup {
  /** Registers a step; what it returns runs that step now, once, and takes it off the list. */
  defer(step: Step): Step
  /**
   * Runs what is left, the newest first; what is registered from then on runs at once. A step that fails does not keep
   * the others from running.
   */
  run(): Promise<void>
}

export function createCleanup(): Cleanup {
  const steps = new Set<Step>()
  let over = false
  const attempt = async (step: Step): Promise<void> => {
    await step().catch((error: unknown) => {
      process.stderr.write(`Something could not be cleaned up: ${String(error)}\n`)
    })
  }
  return {
    defer(step) {
      // Of its own, because the same function may be registered twice.
      const entry: Step = () => step()
      if (over) void attempt(entry)
      else steps.add(entry)
      return async () => {
        if (steps.delete(entry)) await entry()
      }
    },
    async run() {
      over = true
      for (const step of [...steps].reverse()) {
        if (steps.delete(step)) await attempt(step)
      }
    },
  }
}

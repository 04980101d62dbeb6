/**
 * Lets calls through once the store has started; until then they wait for it as long as they may.
 *
 * @module
 */

/** Calls that may wait for a store that is starting; more are turned away at once. */
const MAX_WAITING = 1_000
/** A start that failed is not tried again sooner, however many calls come. */
const PAUSE_AFTER_FAILURE_MS = 1_000

export class StartGate<Findings> {
  readonly #work: () => Promise<Findings>
  readonly #tell: (error: unknown) => void
  #running: Promise<Findings> | null = null
  #open = false
  #waiting = 0
  #failedAt = -Infinity

  /**
   * @param work starts the store; called again after it failed
   * @param tell told of each failure that a call met
   */
  constructor(work: () => Promise<Findings>, tell: (error: unknown) => void) {
    this.#work = work
    this.#tell = tell
  }

  get isOpen(): boolean {
    return this.#open
  }

  /** Starts, or gives the promise of the start that runs or has succeeded. */
  start(): Promise<Findings> {
    this.#running ??= this.#work().then(
      (findings) => {
        this.#open = true
        return findings
      },
      (error: unknown) => {
        this.#running = null
        this.#failedAt = performance.now()
        throw error
      },
    )
    return this.#running
  }

  /** Resolves to whether it is open, after `milliseconds` at the latest. */
  async opensWithin(milliseconds: number): Promise<boolean> {
    if (this.#open) return true
    if (this.#waiting >= MAX_WAITING) return false
    if (this.#running === null && performance.now() - this.#failedAt < PAUSE_AFTER_FAILURE_MS) return false
    this.#waiting += 1
    let timer: NodeJS.Timeout | undefined
    const tooLate = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, milliseconds)
    })
    try {
      await Promise.race([this.start(), tooLate])
    } catch (error) {
      this.#tell(error)
    } finally {
      clearTimeout(timer)
      this.#waiting -= 1
    }
    return this.#open
  }
}

/**
 * Who of this process may write: groups in their thread, or one operation alone. Without turns they would meet each
 * other's write lock, and under load an operation that looks for it by timer would hardly ever find it.
 *
 * @module
 */
export class Turns {
  #groups = 0
  #isHeld = false
  readonly #alone: (() => void)[] = []
  readonly #held: (() => void)[] = []

  /** For a group; several may be on their way to the thread, which takes them in order. */
  async group<T>(work: () => Promise<T>): Promise<T> {
    while (this.#isHeld || this.#alone.length > 0)
      await new Promise<void>((resolve) => this.#held.push(resolve))
    this.#groups += 1
    try {
      return await work()
    } finally {
      this.#groups -= 1
      this.#next()
    }
  }

  /** For one operation; it starts at once where nothing is on its way, and groups wait for it otherwise. */
  alone<T>(work: () => T | Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#alone.push(() => {
        this.#isHeld = true
        void this.#finish(work, resolve, reject)
      })
      this.#next()
    })
  }

  async #finish<T>(
    work: () => T | Promise<T>,
    resolve: (result: T) => void,
    reject: (error: unknown) => void,
  ): Promise<void> {
    try {
      const result = work()
      resolve(result instanceof Promise ? await result : result)
    } catch (error) {
      reject(error)
    } finally {
      this.#isHeld = false
      this.#next()
    }
  }

  #next(): void {
    if (this.#isHeld || this.#groups > 0) return
    const attempt = this.#alone.shift()
    if (attempt !== undefined) attempt()
    else for (const resume of this.#held.splice(0)) resume()
  }
}

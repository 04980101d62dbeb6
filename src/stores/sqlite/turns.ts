/**
 * Who of this process may write: groups in their thread, or one operation on the connection here. Without turns they
 * would meet each other's write lock, and under load an operation that looks for it by timer would hardly ever find it.
 *
 * @module
 */
export class Turns {
  #groups = 0
  readonly #alone: (() => void)[] = []
  readonly #held: (() => void)[] = []

  /** For a group; several may be on their way to the thread, which takes them in order. */
  async group<T>(work: () => Promise<T>): Promise<T> {
    while (this.#alone.length > 0) await new Promise<void>((resolve) => this.#held.push(resolve))
    this.#groups += 1
    try {
      return await work()
    } finally {
      this.#groups -= 1
      if (this.#groups === 0) this.#change()
    }
  }

  /** For one synchronous attempt; it runs at once where no group is on its way, and groups wait for it otherwise. */
  alone<T>(work: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      const attempt = (): void => {
        try {
          resolve(work())
        } catch (error) {
          reject(error instanceof Error ? error : new Error(String(error)))
        }
      }
      if (this.#groups === 0) attempt()
      else this.#alone.push(attempt)
    })
  }

  #change(): void {
    for (const attempt of this.#alone.splice(0)) attempt()
    for (const resume of this.#held.splice(0)) resume()
  }
}

/**
 * How often a guess about a group was wrong lately, which says whether the next one is worth its price.
 *
 * @module
 */

/** A wrong guess costs most of a write and its rollback; a right one saves between a tenth and a seventh of that. */
const WORTH = 0.1

/** How many groups it takes to forget, about. */
const MEMORY = 16

export class Odds {
  #wrong = 0

  get areGood(): boolean {
    return this.#wrong < WORTH
  }

  /** Of every group, whether the guess was made or would have been. */
  note(isWrong: boolean): void {
    this.#wrong += (Number(isWrong) - this.#wrong) / MEMORY
  }
}

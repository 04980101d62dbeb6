/**
 * How often the guess that nothing of a group is stored yet was wrong lately, which says whether the next one is worth
 * its price.
 *
 * @module
 */

/** A wrong guess costs a group's lock step and the writes up to its ledger entries; a right one saves a tenth of that. */
const WORTH = 0.1

/** How many groups it takes to forget, about. */
const MEMORY = 16

export class Odds {
  #wrong = 0

  get areGood(): boolean {
    return this.#wrong < WORTH
  }

  /** Of every group of credits, whether the guess was made or would have been. */
  note(isWrong: boolean): void {
    this.#wrong += (Number(isWrong) - this.#wrong) / MEMORY
  }
}

/**
 * How many chunks of bodies a connection may send for their bytes. A chunk or frame of one byte costs as much time as one
 * of 16 KiB, so a body in tiny chunks takes thousands of times the time of its bytes.
 *
 * Bodies pay for their chunks with their bytes, so that small ones among large ones do not count: a frame of 16 KiB and
 * its header do not fit into a TLS record, and arrive in two chunks. The first chunks of each body are free. Those above
 * are taken from an allowance of the connection that refills slowly, so that a slow but honest client is never closed.
 */

/** The average size that is efficient. Packets of the slowest networks have some 500 bytes. */
const EFFICIENT_BYTES = 256;
const FREE_CHUNKS = 16;
/** Together about as much time as one or two large requests take: twenty connections may arrive at the same time. */
const MAX_EXCESS_CHUNKS = 250;
const REFILLED_PER_SECOND = 50;

export class ChunkAllowance {
  #left = MAX_EXCESS_CHUNKS;
  #refilledMs: number | undefined;

  /** Takes one; false when there is none left. */
  take(nowMs: number): boolean {
    const refill = ((nowMs - (this.#refilledMs ?? nowMs)) / 1_000) * REFILLED_PER_SECOND;
    this.#refilledMs = nowMs;
    this.#left = Math.min(MAX_EXCESS_CHUNKS, this.#left + Math.max(refill, 0)) - 1;
    return this.#left >= 0;
  }
}

/** Counts the chunks of one body. */
export class BodyChunks {
  readonly #allowance: ChunkAllowance;
  readonly #nowMs: () => number;
  #chunks = 0;
  #bytes = 0;
  #taken = 0;

  constructor(allowance: ChunkAllowance, nowMs: () => number) {
    this.#allowance = allowance;
    this.#nowMs = nowMs;
  }

  /** False when the connection sends too many for their bytes. */
  accept(bytes: number): boolean {
    this.#bytes += bytes;
    if (++this.#chunks <= FREE_CHUNKS + this.#taken + this.#bytes / EFFICIENT_BYTES) return true;
    this.#taken++;
    return this.#allowance.take(this.#nowMs());
  }
}

/** Chunks between a sending client and a reading command. */
export class InputQueue {
  onTaken: (waiting: number) => void = () => {};
  readonly #chunks: Uint8Array[] = [];
  #bytes = 0;
  #ended = false;
  #wake: (() => void) | undefined;

  /** Returns the number of queued bytes. */
  push(chunk: Uint8Array): number {
    if (this.#ended || chunk.byteLength === 0) return this.#bytes;
    this.#chunks.push(chunk);
    this.#bytes += chunk.byteLength;
    this.#wake?.();
    return this.#bytes;
  }

  end(): void {
    this.#ended = true;
    this.#wake?.();
  }

  async *chunks(): AsyncGenerator<Uint8Array> {
    for (;;) {
      const chunk = this.#chunks.shift();
      if (chunk) {
        this.#bytes -= chunk.byteLength;
        this.onTaken(this.#bytes);
        yield chunk;
      } else if (this.#ended) return;
      else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    }
  }
}

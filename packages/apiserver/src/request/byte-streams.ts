/** Bodies that are produced over time, as the front end drains them and as code reads them. */
import type { ApiResponse, ByteStream } from "./request.ts";

/** Chunks that are produced one by one (a followed log), consumed as fast as the client reads them. */
export function streamOf(chunks: AsyncIterable<Uint8Array>): ByteStream {
  return {
    open(sink) {
      let closed = false;
      const pump = async (): Promise<void> => {
        for await (const chunk of chunks) {
          if (closed) return;
          if (!sink.write(chunk)) await new Promise<void>((resume) => sink.onDrain(resume));
        }
      };
      // The status line has already been sent, so a failing source can only end the stream early.
      const end = (): void => {
        if (!closed) sink.end();
      };
      pump().then(end, end);
      return () => {
        closed = true;
      };
    },
  };
}

/** The body of a response in chunks, however the server holds it. */
export async function* bodyOf(body: ApiResponse["body"], signal: AbortSignal): AsyncGenerator<Uint8Array> {
  if (body instanceof Uint8Array) yield body;
  else if (Array.isArray(body)) yield* body as readonly Uint8Array[];
  else yield* streamed(body as ByteStream, signal);
}

/** A byte stream with backpressure from the reader. */
async function* streamed(stream: ByteStream, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let ended = false;
  let wake = (): void => {};
  let resume = (): void => {};
  const close = stream.open({
    write(chunk) {
      chunks.push(chunk);
      wake();
      return chunks.length < 64;
    },
    onDrain(run) {
      resume = run;
    },
    end() {
      ended = true;
      wake();
    },
  });
  const onAbort = (): void => {
    ended = true;
    wake();
  };
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    for (;;) {
      const chunk = chunks.shift();
      if (chunk) yield chunk;
      else if (ended) return;
      else {
        resume();
        resume = () => {};
        if (chunks.length > 0 || ended) continue;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    }
  } finally {
    close();
    signal.removeEventListener("abort", onAbort);
  }
}

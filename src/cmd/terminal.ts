/**
 * The terminal of this process, for commands that hand bytes on or ask a question. Standard input is not touched before
 * somebody needs it.
 */
import { once } from "node:events";
import { createInterface } from "node:readline/promises";
import type { Terminal } from "../cli/index.ts";

/** The parts of the process that a terminal is made of. */
export interface TerminalHost {
  stdin: NodeJS.ReadStream;
  stdout: NodeJS.WriteStream;
  stderr: NodeJS.WriteStream;
  /** As if Ctrl-C had been pressed where nobody listens to keys. */
  interrupt(): void;
}

export function createTerminal(host: TerminalHost): Terminal {
  const writer = (stream: NodeJS.WriteStream) => async (chunk: Uint8Array | string) => {
    // A reader that left is noticed where the process guards its streams; nobody waits for it here.
    if (!stream.write(chunk) && !stream.destroyed) await Promise.race([once(stream, "drain"), once(stream, "close")]);
  };
  const size = (): { width: number; height: number } | undefined =>
    host.stdout.isTTY ? { width: host.stdout.columns, height: host.stdout.rows } : undefined;
  return {
    get canAsk() {
      return host.stdin.isTTY && host.stderr.isTTY;
    },
    get isInteractive() {
      return host.stdin.isTTY && host.stdout.isTTY;
    },
    async *input(signal) {
      // Otherwise the process waits for the next key before it ends.
      const leave = (): void => void host.stdin.destroy();
      if (signal.aborted) leave();
      signal.addEventListener("abort", leave, { once: true });
      try {
        for await (const chunk of host.stdin) yield chunk as Uint8Array;
      } catch (error) {
        if (!signal.aborted) throw error;
      } finally {
        signal.removeEventListener("abort", leave);
      }
    },
    write: writer(host.stdout),
    writeError: writer(host.stderr),
    passKeys() {
      host.stdin.setRawMode(true);
      return () => void host.stdin.setRawMode(false);
    },
    size,
    onResize(listener) {
      const tell = (): void => {
        const now = size();
        if (now) listener(now);
      };
      host.stdout.on("resize", tell);
      return () => void host.stdout.off("resize", tell);
    },
    async ask(question, signal) {
      const lines = createInterface({ input: host.stdin, output: host.stderr });
      // While it reads keys itself, Ctrl-C is a key; it ends the command as it does everywhere else.
      lines.on("SIGINT", () => host.interrupt());
      try {
        const closed = once(lines, "close", { signal }).then(() => undefined);
        return await Promise.race([lines.question(question, { signal }), closed]);
      } catch (error) {
        signal.throwIfAborted();
        throw error;
      } finally {
        lines.close();
      }
    },
  };
}

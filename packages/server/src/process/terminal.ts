/**
 * The terminal of this process, for commands that pass bytes on or ask a question. Standard input is not touched before
 * it is needed.
 */
import { once } from "node:events";
import { createInterface } from "node:readline/promises";
import type { Terminal } from "@flotilla/cli";
import { editorOf, editText } from "./editor.ts";

/** The parts of the process that make up a terminal. */
export interface TerminalHost {
  stdin: NodeJS.ReadStream;
  stdout: NodeJS.WriteStream;
  stderr: NodeJS.WriteStream;
  /** Acts like Ctrl-C when keys are not read. */
  interrupt(): void;
  /** Names the editor. */
  environment: Readonly<Record<string, string | undefined>>;
}

export function createTerminal(host: TerminalHost): Terminal {
  const writer = (stream: NodeJS.WriteStream) => async (chunk: Uint8Array | string) => {
    // A closed output is noticed where the process guards its streams; it is not awaited here.
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
      // Otherwise the process would wait for the next key before it exits.
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
      const report = (): void => {
        const now = size();
        if (now) listener(now);
      };
      host.stdout.on("resize", report);
      return () => void host.stdout.off("resize", report);
    },
    async ask(question, signal) {
      const lines = createInterface({ input: host.stdin, output: host.stderr });
      // While keys are read, Ctrl-C arrives as a key; it interrupts the command as everywhere else.
      lines.on("SIGINT", () => host.interrupt());
      try {
        const closed = once(lines, "close", { signal }).then(() => undefined);
        return await Promise.race([lines.question(question, { signal }), closed]);
      } catch (error) {
        signal.throwIfAborted();
        // Ctrl-D ends the input, which is not an answer.
        if (error instanceof Error && "code" in error && error.code === "ABORT_ERR") {
          host.stderr.write("\n");
          return undefined;
        }
        throw error;
      } finally {
        lines.close();
      }
    },
    edit: (text, signal) => editText(editorOf(host.environment), text, signal),
  };
}

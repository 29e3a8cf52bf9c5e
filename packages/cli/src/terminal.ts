/** What commands need from the terminal beyond text output: raw bytes, keys and confirmations. `cmd` provides it. */
export interface TerminalSize {
  width: number;
  height: number;
}

export interface Terminal {
  /** A confirmation is possible: standard input and the output of the question are terminals. */
  readonly canAsk: boolean;
  /** Standard input and standard output are both terminals. */
  readonly isInteractive: boolean;
  /** Reads standard input until it ends or the signal is aborted. */
  input(signal: AbortSignal): AsyncIterable<Uint8Array>;
  /** Writes raw bytes to standard output and standard error; resolves when there is room for more. */
  write(chunk: Uint8Array | string): Promise<void>;
  writeError(chunk: Uint8Array | string): Promise<void>;
  /** Passes keys on as they are typed, including Ctrl-C, until the returned function is called. */
  passKeys(): () => void;
  /** Undefined when standard output is not a terminal. */
  size(): TerminalSize | undefined;
  /** Called whenever the size changes, until the returned function is called. */
  onResize(listener: (size: TerminalSize) => void): () => void;
  /** One line, without its end; undefined when input has ended. */
  ask(question: string, signal: AbortSignal): Promise<string | undefined>;
  /** Opens a text in the user's editor; returns what was saved. */
  edit(text: string, signal: AbortSignal): Promise<string>;
}

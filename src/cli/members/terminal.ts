/**
 * What commands need of the terminal beyond texts: bytes as they come, keys as they are typed, and questions. `cmd`
 * provides it.
 */
export interface TerminalSize {
  width: number;
  height: number;
}

export interface Terminal {
  /** Somebody can be asked: standard input is a terminal, and so is where the question would be shown. */
  readonly canAsk: boolean;
  /** Standard input and standard output are both a terminal's. */
  readonly isInteractive: boolean;
  /** What comes in on standard input, until it ends or the signal is aborted. */
  input(signal: AbortSignal): AsyncIterable<Uint8Array>;
  /** Bytes to standard output and standard error as they are; resolve when there is room for more. */
  write(chunk: Uint8Array | string): Promise<void>;
  writeError(chunk: Uint8Array | string): Promise<void>;
  /** Keys are handed on as they are typed, also Ctrl-C, until what is returned is called. */
  passKeys(): () => void;
  /** Undefined when standard output is no terminal. */
  size(): TerminalSize | undefined;
  /** Told whenever the size changes, until what is returned is called. */
  onResize(listener: (size: TerminalSize) => void): () => void;
  /** One line, without its end; undefined when there is nobody to answer any more. */
  ask(question: string, signal: AbortSignal): Promise<string | undefined>;
}

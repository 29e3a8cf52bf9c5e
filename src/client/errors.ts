import { FlotillaError } from "../base/index.ts";

/** No answer came: the server is down, the network broken, or a certificate not trusted. */
export class UnreachableError extends FlotillaError {
  /** The request may have got there, and been carried out, before the answer was lost. */
  readonly mayHaveArrived: boolean;

  constructor(
    message: string,
    { mayHaveArrived = false, ...options }: ErrorOptions & { mayHaveArrived?: boolean } = {},
  ) {
    super("Unreachable", message, options);
    this.mayHaveArrived = mayHaveArrived;
  }
}

import { FlotillaError } from "@flotilla/base";

/** No response arrived: the server is down, the network is broken, or a certificate is not trusted. */
export class UnreachableError extends FlotillaError {
  /** The server may have received and executed the request before the response was lost. */
  readonly mayHaveArrived: boolean;

  constructor(
    message: string,
    { mayHaveArrived = false, ...options }: ErrorOptions & { mayHaveArrived?: boolean } = {},
  ) {
    super("Unreachable", message, options);
    this.mayHaveArrived = mayHaveArrived;
  }
}

/** The server answered, but not as a Kubernetes API server does. */
export class InvalidResponseError extends UnreachableError {}

/**
 * The server sent more than a limit allows. Like a lost response, it is worth another attempt, but the server may be
 * hostile: who owns the connection can close it.
 */
export class ResponseLimitError extends UnreachableError {}

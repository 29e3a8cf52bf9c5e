import { FlotillaError } from "../base/index.ts";

/** No answer came: the server is down, the network broken, or a certificate not trusted. */
export class UnreachableError extends FlotillaError {
  constructor(message: string, options?: ErrorOptions) {
    super("Unreachable", message, options);
  }
}

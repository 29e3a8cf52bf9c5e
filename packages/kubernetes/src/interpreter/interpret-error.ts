/** An object does not match the schema of its kind: the message names the field and the expected value. */
import { FlotillaError } from "@flotilla/base";

export class InterpretError extends FlotillaError {
  constructor(message: string, options?: ErrorOptions) {
    super("Interpret", message, options);
  }
}

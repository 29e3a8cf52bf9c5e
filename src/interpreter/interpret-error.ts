/** An object cannot be read as its kind asks: the message names the field and what was expected there. */
import { FlotillaError } from "../base/index.ts";

export class InterpretError extends FlotillaError {
  constructor(message: string, options?: ErrorOptions) {
    super("Interpret", message, options);
  }
}

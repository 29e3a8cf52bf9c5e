import { FlotillaError } from "../../base/index.ts";

/** An override cannot be applied to the object: that member's copy is not made, the others are. */
export class OverrideError extends FlotillaError {
  constructor(message: string, options?: ErrorOptions) {
    super("OverrideFailed", message, options);
  }
}

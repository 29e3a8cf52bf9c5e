import { FlotillaError } from "@flotilla/base";

/** An override cannot be applied to the object: the copy for that member is not made, the others are. */
export class OverrideError extends FlotillaError {
  /** The policy as Karmada's events name it: `override policy(shop/web)` or `cluster override policy(web)`. */
  readonly policy: string | undefined;

  constructor(message: string, options: ErrorOptions & { policy?: string } = {}) {
    super("OverrideFailed", message, options);
    this.policy = options.policy;
  }
}

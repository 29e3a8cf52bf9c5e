import { FlotillaError } from "@flotilla/base";

/** Customizations, a rule or fixtures failed; the message states where. */
export class RulesError extends FlotillaError {
  constructor(message: string) {
    super("Rules", message);
  }
}

import { FlotillaError } from "../../base/index.ts";

/** Customizations, a rule or fixtures did not pass; the message says where. */
export class RulesError extends FlotillaError {
  constructor(message: string) {
    super("Rules", message);
  }
}

import { FlotillaError } from "@flotilla/base";

/** For a user who signs in with a token that the hub does not accept. */
export const rejectedCredentials = (): FlotillaError =>
  new FlotillaError("Unauthorized", "the hub rejects these credentials: they are wrong or have expired");

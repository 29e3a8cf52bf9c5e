/** What an authorizer of the chain decides. */

export interface Opinion {
  readonly opinion: "allow" | "deny" | "none";
  readonly reason: string;
  /** Why the authorizer could not be called. */
  readonly error?: string | undefined;
}

/** Tokens that others issue: of identity providers, and those that a webhook knows. */
import type { UserInfo } from "../request/user-info.ts";

/** The user of a token, or why it is rejected; undefined for a token of another issuer. */
export type ExternalOutcome = { user: UserInfo; audiences: readonly string[] } | { error: string } | undefined;

export interface ExternalTokens {
  /**
   * `audiences` are those that the caller asks for; unset means this API. `digest` identifies the token without being
   * one. `from` is the address of the client, which is not known otherwise yet.
   */
  authenticate(
    token: string,
    audiences: readonly string[] | undefined,
    digest: string,
    from?: string,
  ): Promise<ExternalOutcome>;
}

/** Asks each in turn; the first that knows the token decides, unless it is an error and a later one accepts the token. */
export function anyOf(all: readonly ExternalTokens[]): ExternalTokens | undefined {
  if (all.length < 2) return all[0];
  return {
    async authenticate(token, audiences, digest, from) {
      let refusal: ExternalOutcome;
      for (const each of all) {
        const outcome = await each.authenticate(token, audiences, digest, from);
        if (outcome && "user" in outcome) return outcome;
        refusal ??= outcome;
      }
      return refusal;
    },
  };
}

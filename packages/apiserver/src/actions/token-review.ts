/** TokenReview: returns the user of a token and the audiences it is valid for. */
import type { TokenReview } from "@flotilla/kubernetes";
import type { JsonObject } from "@flotilla/base";
import { badRequest } from "@flotilla/apimachinery";
import type { Action } from "./action.ts";
import { userInfoOf } from "./self-subject-review.ts";
import { admitSent, readSent } from "./sent-object.ts";

export const tokenReview: Action = {
  group: "authentication.k8s.io",
  resource: "tokenreviews",
  async run(deps, context, input) {
    const { clock, tokens, accountTokens } = deps;
    const object = await admitSent(
      deps,
      context,
      await readSent(context, input, { clock, facts: "authentication-v1" }),
    );
    const { token = "", audiences = [] } = object.spec as unknown as Partial<TokenReview["spec"]>;
    if (token === "") throw badRequest("token is required for TokenReview in authentication");
    const outcome = await tokens.authenticate(
      context.cluster.name,
      token,
      audiences.length > 0 ? audiences : accountTokens.audiences,
    );
    const status: JsonObject =
      "user" in outcome
        ? { authenticated: true, user: userInfoOf(outcome.user), audiences: [...outcome.audiences] }
        : { user: {}, error: outcome.error === undefined ? INVALID : `[${INVALID}, ${outcome.error}]` };
    return { type: "object", object: { ...object, status }, code: 201 };
  },
};

const INVALID = "invalid bearer token";

/** SelfSubjectReview: returns the identity of the requesting user, after impersonation. */
import { formatTime, omitZero, defined } from "@flotilla/base";
import type { Json, JsonObject } from "@flotilla/base";
import type { Action } from "./action.ts";
import type { UserInfo } from "../request/user-info.ts";
import { admitSent, readSent } from "./sent-object.ts";

export const selfSubjectReview: Action = {
  group: "authentication.k8s.io",
  resource: "selfsubjectreviews",
  async run(deps, context, input) {
    const { clock } = deps;
    const sent = await readSent(context, input, { clock, facts: "authentication-v1" });
    const { apiVersion = "", kind = "" } = await admitSent(deps, context, sent);
    return {
      type: "object",
      object: {
        kind,
        apiVersion,
        metadata: { creationTimestamp: formatTime(clock.now()) },
        status: { userInfo: userInfoOf(context.user) },
      },
      code: 201,
    };
  },
};

/** A user in the format of reviews. */
export function userInfoOf({ name, uid, groups, extra }: UserInfo): JsonObject {
  return {
    ...omitZero({ username: name, uid }),
    ...defined({
      groups: groups.length > 0 ? [...groups] : undefined,
      extra:
        extra && Object.keys(extra).length > 0
          ? Object.fromEntries(Object.entries(extra).map(([key, values]) => [key, [...values] as Json[]]))
          : undefined,
    }),
  };
}

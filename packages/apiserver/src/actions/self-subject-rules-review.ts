/** SelfSubjectRulesReview: returns all rules of the requesting user in a namespace. */
import { isObject, defined } from "@flotilla/base";
import type { Json, JsonObject } from "@flotilla/base";
import { badRequest } from "@flotilla/apimachinery";
import { describeMissing } from "../access/rbac.ts";
import type { Action } from "./action.ts";
import { admitSent, readSent } from "./sent-object.ts";

export const selfSubjectRulesReview: Action = {
  group: "authorization.k8s.io",
  resource: "selfsubjectrulesreviews",
  async run(deps, context, input) {
    const { authorizer, clock } = deps;
    const sent = await readSent(context, input, { clock, facts: "authorization-v1" });
    const { apiVersion = "", kind = "", spec } = await admitSent(deps, context, sent);
    const namespace = isObject(spec) ? spec.namespace : undefined;
    if (typeof namespace !== "string" || namespace === "") throw badRequest("no namespace on request");
    const { rules, missing, incomplete } = authorizer.rulesFor(context.cluster, context.user, namespace);
    const resourceRules: JsonObject[] = [];
    const nonResourceRules: JsonObject[] = [];
    for (const { verbs, apiGroups, resources = [], resourceNames, nonResourceURLs = [] } of rules) {
      if (resources.length > 0) resourceRules.push(withLists({ verbs, apiGroups, resources, resourceNames }));
      if (nonResourceURLs.length > 0) nonResourceRules.push(withLists({ verbs, nonResourceURLs }));
    }
    const problems = [...(missing.length > 0 ? [describeMissing(missing)] : []), ...(incomplete ? [incomplete] : [])];
    const status: JsonObject = {
      resourceRules,
      nonResourceRules,
      incomplete: incomplete !== undefined,
      ...defined({ evaluationError: problems.length > 0 ? problems.join("; ") : undefined }),
    };
    // Like kube-apiserver, returns a new object without anything from the request.
    return { type: "object", object: { kind, apiVersion, metadata: {}, spec: {}, status }, code: 201 };
  },
};

function withLists(lists: Record<string, readonly string[] | undefined>): JsonObject {
  const entries = Object.entries(lists).filter(([, list]) => list && list.length > 0);
  return Object.fromEntries(entries.map(([name, list]) => [name, [...(list ?? [])] as Json[]]));
}

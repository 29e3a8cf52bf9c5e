/**
 * Access to the parameters of policies. The message of a policy may contain parameters, and every user whom the policy
 * denies a request reads it. So the writer of a policy or a binding must be allowed to read the parameters that it
 * names.
 */
import { equalJson, type DeepReadonly } from "@flotilla/base";
import { field, parseApiVersion } from "@flotilla/apimachinery";
import type { ClusterReader, FieldError, Review } from "@flotilla/apimachinery";
import type { ParamKind, ParamRef } from "@flotilla/apimachinery/facts/admissionregistration-v1.ts";

type Read<T> = DeepReadonly<T>;
type Access = Pick<Review<unknown>, "allows" | "read" | "user">;

/** The resource of a kind; `*` as long as the cluster does not serve it. */
function resourceOf(
  read: ClusterReader,
  { apiVersion = "", kind = "" }: Read<ParamKind>,
): {
  group: string;
  resource: string;
} {
  const { group } = parseApiVersion(apiVersion);
  for (const served of read.kinds())
    if (served.group === group && served.kind === kind) return { group, resource: served.plural };
  return { group, resource: "*" };
}

/** For a policy whose kind of parameters is new. */
export function checkParamKindAccess(
  { allows, read, user }: Access,
  kind: Read<ParamKind> | undefined,
  stored: Read<ParamKind> | undefined,
): FieldError[] {
  if (!kind || equalJson(kind, stored)) return [];
  if (allows({ verb: "get", ...resourceOf(read, kind), name: "*" })) return [];
  return [
    field.forbidden(
      "spec.paramKind",
      `user ${JSON.stringify(user.name)} must have "get" permission on all objects of the referenced paramKind ` +
        `(kind=${kind.kind}, apiVersion=${kind.apiVersion})`,
    ),
  ];
}

interface BindingSpec {
  readonly policyName?: string;
  readonly paramRef?: Read<ParamRef>;
}

/** For a binding whose parameters are new. Without its policy, the user must be allowed to read everything. */
export function checkParamRefAccess(
  { allows, read, user }: Access,
  { policyName = "", paramRef }: BindingSpec,
  stored: BindingSpec | undefined,
  findPolicy: (name: string) => { readonly spec?: { readonly paramKind?: Read<ParamKind> } } | undefined,
): FieldError[] {
  if (!paramRef) return [];
  if (stored && stored.policyName === policyName && equalJson(paramRef, stored.paramRef)) return [];
  const { name, namespace } = paramRef;
  const policy = findPolicy(policyName);
  const resource = policy?.spec?.paramKind ? resourceOf(read, policy.spec.paramKind) : { group: "*", resource: "*" };
  const verb = name ? "get" : "list";
  if (allows({ verb, ...resource, name, namespace })) return [];
  const who = `user ${JSON.stringify(user.name)} does not have ${JSON.stringify(verb)} permission`;
  return [
    field.forbidden(
      "spec.paramRef",
      policy
        ? `${who} on the object referenced by paramRef`
        : `unable to get policy ${policyName} to determine minimum required permissions and ${who} for all groups, versions and resources`,
    ),
  ];
}

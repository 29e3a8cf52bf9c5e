/**
 * When a policy takes effect on a template it has claimed. Pure.
 *
 * With `activationPreference: Lazy` a change of the policy alone moves nothing: the binding follows the policy only
 * when somebody changes the template, or applies a new one. What the template was when the policy last took effect is
 * kept as a digest, on the binding or, before there is one, on the template; so a restart neither forgets a change nor
 * takes effect by itself.
 */
import type { KubernetesObject, ResourceBinding } from "../../api/index.ts";
import type { DeepReadonly } from "../../base/index.ts";
import { fnv1a32 } from "../../machinery/index.ts";
import { isLater } from "../../runtime/index.ts";
import { ACTIVATED_TEMPLATE } from "../well-known.ts";
import { claimMetadata, claimOf, type Policy } from "./plan-match.ts";

type Template = DeepReadonly<KubernetesObject>;

/**
 * `now`: the binding follows template and policy. `later`: only the claim is written, and the digest that a change is
 * told by.
 */
export type Activation = { when: "now"; digest?: string } | { when: "later"; digest: string };

export function planActivation(
  policy: Policy,
  template: Template,
  binding: DeepReadonly<ResourceBinding> | undefined,
): Activation {
  if (policy.spec.activationPreference !== "Lazy") return { when: "now" };
  const digest = digestOf(template);
  const known =
    binding?.metadata.annotations?.[ACTIVATED_TEMPLATE] ?? template.metadata.annotations?.[ACTIVATED_TEMPLATE];
  return { when: isDue() ? "now" : "later", digest };

  function isDue(): boolean {
    if (known !== undefined) return known !== digest;
    // A policy that has become lazy, or has taken the template from one that was not, starts with what is there.
    if (binding) return false;
    // Claimed and without a binding: what was due was interrupted. Unclaimed: a template that was applied after the
    // policy.
    return (
      isClaimedBy(policy, template) ||
      isLater(template.metadata.resourceVersion ?? "", policy.metadata.resourceVersion ?? "")
    );
  }
}

function isClaimedBy(policy: Policy, template: Template): boolean {
  return Object.values(claimMetadata(policy).labels).includes(claimOf(template)?.id ?? "");
}

/** Of what users write: the status and what control planes put on a template are no change of theirs. */
export function digestOf(template: Template): string {
  const { metadata, status: _, ...content } = template as Template & { status?: unknown };
  const text = stable({ ...content, labels: ofUsers(metadata.labels), annotations: ofUsers(metadata.annotations) });
  return `${text.length.toString(36)}-${fnv1a32(text).toString(36)}`;
}

const SYSTEM_KEY = /(^|\.)(karmada\.io|flotilla\.dev)\/|^deployment\.kubernetes\.io\//;

function ofUsers(entries: Readonly<Record<string, string>> | undefined): Record<string, string> {
  return Object.fromEntries(Object.entries(entries ?? {}).filter(([key]) => !SYSTEM_KEY.test(key)));
}

/** JSON with sorted keys: the order in which fields were written means nothing. */
function stable(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    typeof part === "object" && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}

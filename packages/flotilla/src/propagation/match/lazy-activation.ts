/**
 * Decides when a policy takes effect on a template it has claimed. Pure.
 *
 * With `activationPreference: Lazy` a change of the policy alone has no effect: the binding follows the policy only
 * when a user changes the template, or applies a new one. The template as of the last activation is stored as a digest,
 * on the binding or, before it exists, on the template; so a restart neither misses a change nor activates by itself.
 */
import { fnv1a32 } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { ResourceBinding } from "@flotilla/karmada";
import type { DeepReadonly } from "@flotilla/base";
import { isLater } from "@flotilla/controller-runtime";
import { claimMetadata, claimOf, type Policy } from "./plan-match.ts";
import { ACTIVATED_TEMPLATE } from "../../flotilla-names.ts";

type Template = DeepReadonly<KubernetesObject>;

/**
 * `now`: the binding follows template and policy. `later`: only the claim is written, and the digest that detects a
 * change.
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
    // A policy that became lazy, or took the template from one that was not, starts with the current template.
    if (binding) return false;
    // Claimed and without a binding: the activation was interrupted. Unclaimed: the template was applied after the
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

/** Covers the fields that users write: the status and the marks of control planes do not count as changes. */
export function digestOf(template: Template): string {
  const { metadata, status: _, ...content } = template as Template & { status?: unknown };
  const text = stable({ ...content, labels: ofUsers(metadata.labels), annotations: ofUsers(metadata.annotations) });
  return `${text.length.toString(36)}-${fnv1a32(text).toString(36)}`;
}

const SYSTEM_KEY = /(^|\.)(karmada\.io|flotilla\.dev)\/|^deployment\.kubernetes\.io\//;

function ofUsers(entries: Readonly<Record<string, string>> | undefined): Record<string, string> {
  return Object.fromEntries(Object.entries(entries ?? {}).filter(([key]) => !SYSTEM_KEY.test(key)));
}

/** JSON with sorted keys: field order has no meaning. */
function stable(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    typeof part === "object" && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}

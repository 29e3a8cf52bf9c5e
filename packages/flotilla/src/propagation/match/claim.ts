/** Writes a policy's claim on templates and bindings, and removes it. */
import { defined } from "@flotilla/base";
import { isNotFound } from "@flotilla/apimachinery";
import type { Kind } from "@flotilla/apimachinery";
import type { Client } from "@flotilla/client";
import type { Template } from "../templates/templates.ts";
import { CLAIM_ANNOTATIONS, CLAIM_LABELS, claimMetadata } from "./plan-match.ts";
import type { Policy } from "./plan-match.ts";
import { ACTIVATED_TEMPLATE } from "../../flotilla-names.ts";

export interface ClaimWriter {
  /** Nothing is written when the claim is up to date. `activated` is the digest of a lazily activated template. */
  write(
    object: Template,
    kind: Kind,
    policy: Policy | undefined,
    activated: string | undefined,
    signal: AbortSignal,
  ): Promise<void>;
}

export function createClaimWriter(hub: string, client: Client): ClaimWriter {
  return {
    async write(object, kind, policy, activated, signal) {
      const wanted = policy ? claimMetadata(policy) : { labels: {}, annotations: {} };
      const labels = differences(object.metadata.labels ?? {}, wanted.labels, CLAIM_LABELS);
      const annotations = differences(
        object.metadata.annotations ?? {},
        { ...wanted.annotations, ...defined({ [ACTIVATED_TEMPLATE]: activated }) },
        [...CLAIM_ANNOTATIONS, ACTIVATED_TEMPLATE],
      );
      if (Object.keys(labels).length + Object.keys(annotations).length === 0) return;
      const { namespace, name } = object.metadata;
      try {
        await client.patch(
          kind,
          { cluster: hub, namespace: namespace || undefined, name },
          { metadata: { labels, annotations } },
          { type: "merge", signal },
        );
      } catch (error) {
        if (!isNotFound(error)) throw error; // Deleted in the meantime.
      }
    },
  };
}

/** A merge patch for those of `keys` whose value differs from the desired one; null removes. */
function differences(
  current: Readonly<Record<string, string>>,
  wanted: Readonly<Record<string, string>>,
  keys: readonly string[],
): Record<string, string | null> {
  const patch: Record<string, string | null> = {};
  for (const key of keys) if (current[key] !== wanted[key]) patch[key] = wanted[key] ?? null;
  return patch;
}

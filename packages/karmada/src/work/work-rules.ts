/**
 * Emulates Karmada's webhook for Works that a client writes: sets the permanent id, and removes server-set fields from
 * manifests. Dispatch renders manifests in final form, so Works that the server's own controllers write are left
 * unchanged.
 */
import { change, deniedByWebhook, jsonTypeName, manifestProblem } from "@flotilla/apimachinery";
import type { AnyAdmission, KubernetesObject, Review } from "@flotilla/apimachinery";
import { isObject, type DeepReadonly, type Json, type JsonObject } from "@flotilla/base";
import { withPermanentId } from "../webhook/permanent-id.ts";
import { karmadaAdmission } from "../webhook/webhook.ts";
import { Work } from "./work-kind.ts";
import { MANAGED_ANNOTATIONS, MANAGED_LABELS, WORK_ID } from "../names/karmada-names.ts";

type Manifest = DeepReadonly<KubernetesObject & JsonObject>;

const WEBHOOK = "work.karmada.io";

/** The maximum length of a manifest in an error message. */
const MAX_SHOWN = 256;

/** `prune` removes the fields of a manifest that must not be sent to a member; they depend on the kind. */
export function createWorkAdmissions(prune: (manifest: Manifest) => DeepReadonly<KubernetesObject>): AnyAdmission[] {
  const complete = (_: DeepReadonly<Work>, review: Review<Work>): DeepReadonly<Work> => {
    const work = withPermanentId(review, WORK_ID, "binding");
    if (review.byController) return work;
    const id = work.metadata.labels?.[WORK_ID] ?? "";
    const rendered = (manifest: unknown): DeepReadonly<KubernetesObject> =>
      marked(prune(checked(manifest as Json)), id);
    return change(work, "spec", (spec) =>
      change(spec, "workload", (workload) => change(workload, "manifests", (manifests) => manifests.map(rendered))),
    );
  };
  return [
    karmadaAdmission(Work, {
      name: WEBHOOK,
      completes: { table: "work-karmada-v1alpha1", skipsOwnWrites: true, complete },
    }),
  ];
}

function checked(manifest: Json): Manifest {
  if (!isObject(manifest))
    throw deniedByWebhook(
      WEBHOOK,
      400,
      `json: cannot unmarshal ${jsonTypeName(manifest)} into Go value of type map[string]interface {}`,
    );
  const { kind, metadata = {} } = manifest;
  if (typeof kind !== "string" || kind === "")
    throw deniedByWebhook(
      WEBHOOK,
      400,
      `Object 'Kind' is missing in '${JSON.stringify(manifest).slice(0, MAX_SHOWN)}'`,
    );
  const problem = manifestProblem(manifest);
  if (problem !== undefined) throw deniedByWebhook(WEBHOOK, 400, problem);
  return { ...manifest, metadata: isObject(metadata) ? metadata : {} } as unknown as Manifest;
}

/**
 * Adds the Work's id, and a record of all keys, so that a key missing from a later manifest is known to have been ours.
 */
function marked(manifest: DeepReadonly<KubernetesObject>, id: string): DeepReadonly<KubernetesObject> {
  const labels = { ...manifest.metadata.labels, [WORK_ID]: id };
  const { annotations = {} } = manifest.metadata;
  const keys = (record: Readonly<Record<string, string>>, ...more: string[]): string =>
    [...new Set([...Object.keys(record), ...more])].sort().join(",");
  return {
    ...manifest,
    metadata: {
      ...manifest.metadata,
      labels,
      annotations: {
        ...annotations,
        [MANAGED_ANNOTATIONS]: keys(annotations, MANAGED_ANNOTATIONS, MANAGED_LABELS),
        [MANAGED_LABELS]: keys(labels),
      },
    },
  };
}

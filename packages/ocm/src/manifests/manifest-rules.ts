/**
 * Validates the manifests of a ManifestWork, and the permission to apply them as another account. Templates follow the
 * same rules.
 */
import { accountUser } from "@flotilla/kubernetes";
import { isObject, type DeepReadonly, type Json, defined } from "@flotilla/base";
import { field, manifestProblem } from "@flotilla/apimachinery";
import type { AccessCheck, AnyAdmission, Kind, KubernetesObject, Review } from "@flotilla/apimachinery";
import type { ManifestWorkSpec } from "./manifest-work-spec.ts";
import { MAX_MANIFEST_WORK_NAME, WORK_GROUP } from "../ocm-names.ts";

type Spec = DeepReadonly<ManifestWorkSpec> | undefined;
interface Identity {
  apiVersion?: string;
  kind?: string;
  metadata?: { name?: string; namespace?: string; generateName?: string };
}

/** The total size of all manifests, as an agent receives them. */
const MAX_MANIFESTS_BYTES = 500 * 1024;

/** A work with a longer name could be stored but never applied. A stored one can still be updated. */
export function manifestWorkName<T extends KubernetesObject>(kind: Kind<T>): AnyAdmission {
  return {
    name: `${kind.kind}Name`,
    for: kind,
    on: ["CREATE"],
    validate: ({ object: { metadata } }: Review<KubernetesObject>) =>
      (metadata.name ?? "").length > MAX_MANIFEST_WORK_NAME
        ? [field.tooLong("metadata.name", MAX_MANIFEST_WORK_NAME)]
        : [],
  };
}

/** The error in the manifests; undefined when there is none. */
export function manifestsProblem(spec: Spec): string | undefined {
  const manifests = (spec?.workload?.manifests ?? []) as readonly DeepReadonly<Json>[];
  const size = manifests.reduce<number>((total, manifest) => total + storedSize(manifest), 0);
  if (size > MAX_MANIFESTS_BYTES)
    return `the size of manifests is ${size} bytes which exceeds the ${MAX_MANIFESTS_BYTES} limit`;
  const seen = new Set<string>();
  for (const manifest of manifests) {
    const problem = isObject(manifest) ? manifestProblem(manifest) : undefined;
    if (problem !== undefined) return problem;
    const { apiVersion = "", kind = "", metadata = {} } = manifest as Identity;
    const { name = "", namespace = "", generateName = "" } = metadata;
    if (name === "") return "name must be set in manifest";
    if (generateName !== "") return "generateName must not be set in manifest";
    const key = `${apiVersion}/${kind}/${namespace}/${name}`;
    if (seen.has(key))
      return `duplicate manifest for resource ${namespace}/${name} with resource type ${apiVersion}.${kind}`;
    seen.add(key);
  }
  return undefined;
}

/** The size of one manifest: its JSON as Go writes it, with the tag and length of an entry in a stored list. */
function storedSize(manifest: DeepReadonly<Json>): number {
  const text = JSON.stringify(manifest);
  // Go writes these as six characters each.
  const escaped = text.match(/[<>&\u2028\u2029]/g) ?? [];
  const bytes =
    Buffer.byteLength(text) + escaped.reduce((total, character) => total + 6 - Buffer.byteLength(character), 0);
  return 1 + bytes + lengthBytes(bytes);
}

/** One byte holds seven bits of a length. */
const lengthBytes = (value: number): number => Math.max(1, Math.ceil(Math.log2(value + 1) / 7));

/** The account that manifests are applied as; `missing` when an executor names none. */
export function executorOf(spec: Spec): { namespace: string; name: string } | "missing" | undefined {
  const executor = spec?.executor;
  if (!isObject(executor)) return undefined;
  return spec?.executor?.subject?.serviceAccount ?? "missing";
}

export const NO_ACCOUNT = "executor service account can not be nil";

/** Executing as an account needs a permission for that account's name. */
export function mayExecuteAs(
  { allows }: Pick<Review<unknown>, "allows">,
  account: { namespace: string; name: string },
  namespace: string | undefined,
): boolean {
  const question: AccessCheck = {
    verb: "execute-as",
    group: WORK_GROUP,
    resource: "manifestworks",
    name: accountUser(account.namespace, account.name),
  };
  return allows({ ...question, ...defined({ namespace }) });
}

/**
 * The parts of a body that a request does not write: the status beside the object, the object beside its status, and
 * metadata of the server. kube-apiserver decodes the whole body, so a value of the wrong type is rejected there as well.
 */
import { isObject } from "@flotilla/base";
import type { JsonObject } from "@flotilla/base";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { AdmissionChain } from "../admission/chain.ts";
import { metadataOf } from "../codec/metadata.ts";
import type { RequestContext } from "../request/context.ts";
import { REPLACED_METADATA } from "./identity.ts";

/**
 * Returns the fields in these parts that the kind does not have. Throws a DecodeError. Parts that are the stored ones are not
 * checked, and most requests send no others. `managersAreOurs`: the server computed the managed fields, as in apply.
 */
export function checkUnwrittenParts(
  { chain }: { chain: AdmissionChain },
  context: RequestContext,
  sent: JsonObject,
  old: JsonObject | undefined,
  managersAreOurs = false,
): readonly string[] {
  const { served, subresource, byController } = context;
  const { kind } = served.resource;
  if (!kind.builtIn || byController) return NONE;
  if (!hasUnwritten(served.subresources.status === true, subresource, sent, old, managersAreOurs)) return NONE;
  decodeSent(chain, context, sent, old);
  const unknownFields: string[] = [];
  served.compiled.admit(sent, { unknownFields });
  const writesStatus = subresource === "status";
  return unknownFields.filter((path) => !path.startsWith("metadata.") && /^status(?:\.|$)/.test(path) !== writesStatus);
}

const NONE: readonly string[] = [];

/** Throws a DecodeError for a body that is not an object of the kind. */
export function decodeSent(
  chain: AdmissionChain,
  { served }: RequestContext,
  sent: JsonObject,
  old: JsonObject | undefined,
): void {
  const { kind } = served.resource;
  if (!kind.builtIn) return;
  const object = { ...sent, apiVersion: served.apiVersion, kind: kind.kind } as unknown as KubernetesObject;
  for (const { decode } of chain.decoding(kind)) decode?.(served.version, object, old);
}

function hasUnwritten(
  hasStatus: boolean,
  subresource: string | undefined,
  sent: JsonObject,
  old: JsonObject | undefined,
  managersAreOurs: boolean,
): boolean {
  const { status, metadata } = sent;
  if (hasStatus && subresource === undefined && status !== undefined && status !== old?.status && !isEmpty(status))
    return true;
  if (subresource === "status" || subresource === "finalize")
    for (const key in sent) if (key !== "status" && key !== "metadata" && sent[key] !== old?.[key]) return true;
  if (!isObject(metadata)) return false;
  const stored = old && metadataOf(old);
  for (const key in metadata) {
    if (managersAreOurs && key === "managedFields") continue;
    if (REPLACED_METADATA.has(key) && metadata[key] !== stored?.[key] && metadata[key] !== null) return true;
  }
  return false;
}

const isEmpty = (value: unknown): boolean =>
  value === null || (typeof value === "object" && Object.keys(value).length === 0);

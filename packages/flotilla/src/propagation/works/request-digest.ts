/**
 * What people asked for and a member's copy is made from, beside the generation of the template: its labels and
 * annotations, its fields if its kind has no generation, the placement and the last request to place it again. Dispatch
 * records a digest of it on the Work with each change of the copy, so that the program that applies the
 * Work, which may be an agent, distinguishes a change that was asked for from one that Flotilla makes by itself (`delivery/oscillations.ts`). Pure.
 */
import { hash } from "node:crypto";
import { LAST_APPLIED_ANNOTATION } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { equalJson } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import type { ResourceBinding, Work } from "@flotilla/karmada";
import { REQUEST, STEP_REQUEST } from "../../flotilla-names.ts";
import { releasedPart } from "../templates/released-part.ts";

type Template = DeepReadonly<KubernetesObject>;

/** Controllers of the hub write these. */
const OWN_KEYS = /(^|\.)(karmada|flotilla)\.(io|dev)\//;

/** The digest for the copies of a template; `binding` is unset for what no policy places. */
export function requestDigest(template: Template, binding?: DeepReadonly<ResourceBinding>): string {
  const asked = digestOf(partOf(template));
  const { placement, rescheduleTriggeredAt } = binding?.spec ?? {};
  return binding ? digestOf([asked, placement ?? null, rescheduleTriggeredAt ?? null]) : asked;
}

function partOf(template: Template): unknown {
  const { labels, annotations, generation } = template.metadata;
  const users = (values: Readonly<Record<string, string>> | undefined): [string, string][] =>
    Object.entries(values ?? {}).filter(([key]) => !OWN_KEYS.test(key) && key !== LAST_APPLIED_ANNOTATION);
  return [users(labels), users(annotations), generation === undefined ? releasedPart(template) : null];
}

/**
 * The digest for a member's part of a number that follows the pods, such as a budget: it moves from member to member and
 * back as often as pods do, and replaces none, so each part counts as asked for.
 */
export function partDigest(digest: string, copy: Template): string {
  const { spec } = copy as { spec?: unknown };
  return digestOf([digest, spec ?? null]);
}

const digestOf = (value: unknown): string => hash("sha256", JSON.stringify(value), "base64url").slice(0, 16);

/** The record of the next Work. A copy that stays as it is keeps its record: a new one would be a write for nothing. */
export function requestRecord(
  digest: string,
  manifest: unknown,
  before: DeepReadonly<Work> | undefined,
): string | undefined {
  const known = before?.metadata.annotations?.[REQUEST];
  if (!before || known === digest) return digest;
  return equalJson(before.spec.workload?.manifests?.[0], manifest) ? known : digest;
}

/** What people had asked of the release when the step was assigned; undefined outside of releases. */
export const requestOfStep = (step: string | undefined): string | undefined => step?.split(STEP_REQUEST)[1];

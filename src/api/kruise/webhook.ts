/**
 * How OpenKruise's webhooks look at an object: they read it as a Go struct, complete it, and say what is wrong with it. A status or a
 * scale is not theirs to see.
 */
import type { DeepReadonly, JsonObject } from "../../base/index.ts";
import { deniedByWebhook, type FieldError } from "../../machinery/index.ts";
import type { Admission, Operation, Review } from "../admission.ts";
import { decodedPart } from "../canonical.ts";
import type { Kind } from "../kind.ts";
import { parseApiVersion, type KubernetesObject } from "../meta.ts";

type Read<T> = DeepReadonly<T>;

/** The cluster that holds templates for others. What a rule would look for is on the members, which ask it again. */
const HUB = "hub";
export const isHub = ({ cluster }: { readonly cluster: string }): boolean => cluster === HUB;

interface KruiseRules<T> {
  /** `cloneset` for the webhooks `mcloneset.kb.io` and `vcloneset.kb.io`. */
  name: string;
  /** What a refusal is answered with. */
  code: number | ((operation: Operation) => number);
  /** The fact tables of the versions that upstream has published. */
  tables: Readonly<Record<string, string>>;
  complete?(object: Read<T>, review: Review<T>): Read<T>;
  check(review: Review<T>): FieldError[];
}

export function kruiseAdmission<T extends KubernetesObject>(kind: Kind<T>, { name, code, tables, complete, check }: KruiseRules<T>): Admission<T> {
  const reads = (review: Review<T>): Read<T> => decoded(review, tables[versionOf(review.object)], kind.kind, refusalOf(name));
  return {
    for: kind,
    on: ["CREATE", "UPDATE"],
    webhook: { name: `v${name}.kb.io`, code: typeof code === "number" ? () => code : code },
    mutate(review) {
      if (review.subresource !== undefined || isSettled(review)) return review.object;
      const object = reads(review);
      return complete ? complete(object, { ...review, object }) : object;
    },
    validate: (review) => (review.subresource !== undefined || isSettled(review) ? [] : check(review)),
  };
}

const versionOf = (object: unknown): string => parseApiVersion((object as KubernetesObject).apiVersion).version;

/** A value of the wrong type ends the request where it is read first. */
export const refusalOf =
  (name: string) =>
  (problem: string): Error =>
    deniedByWebhook(`m${name}.kb.io`, 400, problem);

function decoded<T>({ object, settled }: Review<T>, table: string | undefined, kind: string, refusal: (problem: string) => Error): Read<T> {
  const { spec } = object as JsonObject;
  // A struct that is not given is one whose fields are not given.
  if (table === undefined) return spec === undefined || spec === null ? ({ ...object, spec: {} } as Read<T>) : object;
  const known = (settled as JsonObject | undefined)?.["spec"];
  const read = decodedPart(table, kind, spec === undefined ? {} : { spec }, refusal, known === undefined ? undefined : { spec: known })["spec"];
  return read === spec ? object : ({ ...object, spec: read } as Read<T>);
}

/** True when everything that rules look at has passed them before. */
function isSettled<T>({ object, settled }: Review<T>): boolean {
  if (settled === undefined) return false;
  const [now, before] = [object as Read<KubernetesObject & { spec?: unknown }>, settled as Read<KubernetesObject & { spec?: unknown }>];
  return now.spec === before.spec && now.metadata.labels === before.metadata.labels && now.metadata.annotations === before.metadata.annotations;
}

/** Validates pod annotations: kubelet marks, the deletion cost, and profiles that predate their fields. */
import { POD_DELETION_COST_ANNOTATION, MIRROR_POD_ANNOTATION, SECCOMP_POD_ANNOTATION } from "../well-known-names.ts";
import { isObject, messageOf, type DeepReadonly } from "@flotilla/base";
import {
  field,
  MAX_ANNOTATIONS_BYTES,
  annotationKeyProblems,
  annotationsAreTooLong,
  type FieldError,
} from "@flotilla/apimachinery";
import type { AppArmorProfile, PodSpec, SeccompProfile } from "@flotilla/apimachinery/facts/core-v1.ts";
import { checkDescendingPath } from "./pod-paths.ts";
import { checkTolerations } from "./pod-scheduling.ts";
import { containersOf } from "./pod-security.ts";

type Read<T> = DeepReadonly<T>;
type Annotations = Readonly<Record<string, string>>;

const TOLERATIONS = "scheduler.alpha.kubernetes.io/tolerations";
export const SECCOMP_CONTAINER = "container.seccomp.security.alpha.kubernetes.io/";
export const APP_ARMOR = "container.apparmor.security.beta.kubernetes.io/";
const LOCALHOST = "localhost/";

/** Validates keys and total size, as for the metadata of any object. */
export function checkAnnotationKeys(errors: FieldError[], at: string, annotations: Annotations | undefined): void {
  if (!annotations) return;
  for (const key of Object.keys(annotations))
    for (const problem of annotationKeyProblems(key)) errors.push(field.invalid(at, key, problem));
  if (annotationsAreTooLong(annotations)) errors.push(field.tooLong(at, MAX_ANNOTATIONS_BYTES));
}

/** Validates the annotations of a pod or template; `at` is their path. */
export function checkPodAnnotations(
  errors: FieldError[],
  at: string,
  annotations: Annotations | undefined,
  spec: Read<PodSpec>,
): void {
  if (!annotations) return;
  const own = (key: string): string | undefined => (Object.hasOwn(annotations, key) ? annotations[key] : undefined);
  const mirror = own(MIRROR_POD_ANNOTATION);
  if (mirror !== undefined && !spec.nodeName)
    errors.push(
      field.invalid(
        `${at}[${MIRROR_POD_ANNOTATION}]`,
        mirror,
        "must set spec.nodeName if mirror pod annotation is set",
      ),
    );
  const tolerations = own(TOLERATIONS);
  if (tolerations) checkTolerationText(errors, at, tolerations);
  const cost = own(POD_DELETION_COST_ANNOTATION);
  if (cost !== undefined && !isInt32(cost))
    errors.push(field.invalid(`${at}[${POD_DELETION_COST_ANNOTATION}]`, cost, "must be a 32bit integer"));
  const seccomp = own(SECCOMP_POD_ANNOTATION);
  if (seccomp !== undefined) checkSeccompText(errors, `${at}.${SECCOMP_POD_ANNOTATION}`, seccomp);
  for (const key of Object.keys(annotations))
    if (key.startsWith(SECCOMP_CONTAINER)) checkSeccompText(errors, `${at}.${key}`, annotations[key] ?? "");
  for (const key of Object.keys(annotations))
    if (key.startsWith(APP_ARMOR))
      checkAppArmorText(errors, `${at}[${key}]`, key.slice(APP_ARMOR.length), annotations[key] ?? "", spec);
}

/** No plus sign and no leading zeros. */
const isInt32 = (text: string): boolean =>
  /^(?:0|-?\d{1,11}|[1-9]\d{0,10})$/.test(text) &&
  (text === "0" || !text.startsWith("0")) &&
  Number(text) >= -(2 ** 31) &&
  Number(text) < 2 ** 31;

function checkTolerationText(errors: FieldError[], at: string, text: string): void {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    errors.push(field.invalid(at, TOLERATIONS, messageOf(error)));
    return;
  }
  if (!Array.isArray(parsed))
    errors.push(field.invalid(at, TOLERATIONS, "json: cannot unmarshal into a list of tolerations"));
  else checkTolerations(errors, `${at}.${TOLERATIONS}`, parsed.filter(isObject));
}

function checkSeccompText(errors: FieldError[], at: string, profile: string): void {
  if (profile === "runtime/default" || profile === "docker/default" || profile === "unconfined") return;
  if (profile.startsWith(LOCALHOST)) checkDescendingPath(errors, at, profile.slice(LOCALHOST.length));
  else errors.push(field.invalid(at, profile, "must be a valid seccomp profile"));
}

function checkAppArmorText(
  errors: FieldError[],
  at: string,
  container: string,
  profile: string,
  spec: Read<PodSpec>,
): void {
  if (![...containersOf("", spec)].some(([, { name }]) => name === container))
    errors.push(field.invalid(at, container, "container not found"));
  if (profile !== "" && profile !== "runtime/default" && profile !== "unconfined" && !profile.startsWith(LOCALHOST))
    errors.push(field.invalid(at, profile, `invalid AppArmor profile name: ${JSON.stringify(profile)}`));
}

/** A profile set both as an annotation and as a field must be equal. */
export function checkProfilesAgree(
  errors: FieldError[],
  at: string,
  annotations: Annotations | undefined,
  spec: Read<PodSpec>,
): void {
  if (!annotations) return;
  const own = (key: string): string | undefined => (Object.hasOwn(annotations, key) ? annotations[key] : undefined);
  const compare = (
    path: string,
    what: string,
    profile: Read<SeccompProfile> | Read<AppArmorProfile> | undefined,
    text: string | undefined,
  ): void => {
    if (!profile || text === undefined) return;
    const differs = disagreement(profile, text, what);
    if (differs === "type")
      errors.push(field.forbidden(`${path}.type`, `${what} type in annotation and field must match`));
    else if (differs === "localhostProfile")
      errors.push(field.forbidden(`${path}.localhostProfile`, `${what} profile in annotation and field must match`));
  };
  compare(
    `${at}.securityContext.seccompProfile`,
    "seccomp",
    spec.securityContext?.seccompProfile,
    own(SECCOMP_POD_ANNOTATION),
  );
  for (const [fieldPath, { name, securityContext }] of containersOf(at, spec))
    compare(
      `${fieldPath}.securityContext.seccompProfile`,
      "seccomp",
      securityContext?.seccompProfile,
      own(SECCOMP_CONTAINER + name),
    );
  if (spec.os?.name === "windows") return;
  for (const [place, { name, securityContext }] of containersOf(at, spec)) {
    compare(
      `${place}.securityContext.appArmorProfile`,
      "apparmor",
      securityContext?.appArmorProfile ?? spec.securityContext?.appArmorProfile,
      own(APP_ARMOR + name),
    );
  }
}

function disagreement(
  { type, localhostProfile }: Read<SeccompProfile> | Read<AppArmorProfile>,
  text: string,
  what: string,
): "type" | "localhostProfile" | undefined {
  switch (type) {
    case "Unconfined":
      return text === "unconfined" ? undefined : "type";
    case "RuntimeDefault":
      return text === "runtime/default" || (what === "seccomp" && text === "docker/default") ? undefined : "type";
    case "Localhost":
      if (!text.startsWith(LOCALHOST)) return "type";
      return localhostProfile === text.slice(LOCALHOST.length) ? undefined : "localhostProfile";
    default:
      return undefined;
  }
}

/** The profile set by an AppArmor annotation; undefined when it is not a valid one. */
export function appArmorProfileOf(text: string): AppArmorProfile | undefined {
  if (text === "unconfined") return { type: "Unconfined" };
  if (text === "runtime/default") return { type: "RuntimeDefault" };
  const localhostProfile = text.startsWith(LOCALHOST) ? text.slice(LOCALHOST.length) : "";
  return localhostProfile === "" ? undefined : { type: "Localhost", localhostProfile };
}

/** Annotations that cannot change over the lifetime of a pod. */
export function checkAnnotationsKept(
  errors: FieldError[],
  at: string,
  annotations: Annotations = {},
  old: Annotations = {},
): void {
  for (const key of Object.keys(old)) {
    if (Object.hasOwn(annotations, key) && annotations[key] === old[key]) continue;
    if (key.startsWith(APP_ARMOR))
      errors.push(field.forbidden(`${at}[${key}]`, "may not remove or update AppArmor annotations"));
    if (key === MIRROR_POD_ANNOTATION)
      errors.push(field.forbidden(`${at}[${key}]`, "may not remove or update mirror pod annotation"));
  }
  for (const key of Object.keys(annotations)) {
    if (Object.hasOwn(old, key)) continue;
    if (key.startsWith(APP_ARMOR)) errors.push(field.forbidden(`${at}[${key}]`, "may not add AppArmor annotations"));
    if (key === MIRROR_POD_ANNOTATION)
      errors.push(field.forbidden(`${at}[${key}]`, "may not add mirror pod annotation"));
  }
}

/** Explains why a member has not applied its latest copy, and what to do about it. Pure. */
import { parseApiVersion } from "@flotilla/apimachinery";
import { INEXACT_INTEGER } from "@flotilla/base";
import type { Explanation, Problem } from "./explanation.ts";
import {
  ANSWER_PENDING,
  KIND_NOT_SERVED,
  MEMBER_UNREACHABLE,
  NO_ANSWER,
  OSCILLATING,
  RELEASE_STARTS_OVER,
  RELEASE_STOPPED,
  TERMINATING,
} from "../flotilla-names.ts";
import { refusesToken } from "../membership/ready.ts";

export const INSTALL_KIND =
  "install the kind's CustomResourceDefinition on those members (if it is built in: a Kubernetes version that " +
  "serves it), or wait for the hub to detect it there";

/** Reasons of the condition Applied that do not blame the object: the member is unreachable or has not responded. */
const UNREACHABLE_REASONS: ReadonlySet<string> = new Set([MEMBER_UNREACHABLE, NO_ANSWER, ANSWER_PENDING]);

/** What to do about credentials that the member rejects. */
export const joinAgain = (cluster: string): string =>
  `run 'flotilla join ${cluster} --cluster-kubeconfig FILE' to issue new credentials; until then its workloads ` +
  "keep running, and what is known of them is from before";

type Delivery = Pick<
  Explanation["members"][number],
  "cluster" | "applied" | "reason" | "message" | "webhookConfiguration"
>;

/** Why the member has not applied its latest copy. */
export function deliveryProblem(
  resource: Explanation["resource"],
  delivery: Delivery,
  isNotReady: boolean,
): Problem | undefined {
  const { cluster, applied, reason = "", message, webhookConfiguration } = delivery;
  if (applied !== false) return undefined;
  if (UNREACHABLE_REASONS.has(reason))
    return isNotReady
      ? undefined
      : {
          what:
            `${refusesToken(message) ? "the hub cannot use " : ""}${cluster}` +
            `${refusesToken(message) ? "" : " is unreachable"}: ${message ?? "no reason given"}`,
          try: refusesToken(message)
            ? joinAgain(cluster)
            : `check that ${cluster} is running and reachable from the hub; its workloads keep running, and the hub continues automatically when it is back`,
        };
  if (reason === RELEASE_STOPPED)
    return {
      what: `${cluster}: ${message ?? "the release is not sent"}`,
      try: "remove the field from the Retain rule, set it on the member, or, if the members should decide, remove the partition from the template",
    };
  if (reason === RELEASE_STARTS_OVER)
    return {
      what: `${cluster}: ${message ?? "the object is gone"}`,
      try: "wait: the hub creates it again and continues the release",
    };
  if (reason === TERMINATING)
    return {
      what: `${cluster} still has the object that was deleted before: ${message ?? "no reason given"}`,
      try: `start the controller that removes the finalizer on ${cluster}, or remove the finalizer there; the hub then delivers the new object`,
    };
  if (reason === OSCILLATING)
    return {
      what: `${cluster}: ${message ?? "the hub no longer writes the object"}`,
      try:
        "correct the rule or policy that gives another result each time (flotilla interpret --test FILE runs a " +
        "rule); writing continues when the template, a policy or a rule of its kind changes",
    };
  const webhook = uncalledWebhookIn(message);
  if (webhook !== undefined) return unansweredProblem(cluster, webhook, webhookConfiguration, message);
  if (reason === KIND_NOT_SERVED)
    return { what: `${cluster} does not serve its kind: ${message ?? "no reason given"}`, try: INSTALL_KIND };
  return (
    unsentProblem(resource, cluster, message) ?? {
      what: `${cluster} rejected it: ${message ?? "no reason given"}`,
      try: "correct what the member rejects; the hub retries automatically",
    }
  );
}

/** The webhook that an API server could not call, in its message. */
export function uncalledWebhookIn(message = ""): string | undefined {
  const [, name] = /\bfailed calling webhook "([^"\s]{1,253})"/.exec(message) ?? [];
  return name;
}

/** Nothing is wrong with the object: a webhook that the member must call does not respond. */
function unansweredProblem(
  cluster: string,
  webhook: string,
  configuration: string | undefined,
  message: string | undefined,
): Problem {
  const [kind = "", name = ""] = configuration?.split(" ") ?? [];
  const look =
    configuration === undefined
      ? "get validatingwebhookconfigurations,mutatingwebhookconfigurations"
      : `describe ${kind.toLowerCase()}/${name}`;
  return {
    what:
      `${cluster} could not check it, because webhook ` +
      `${webhook}${configuration === undefined ? "" : ` of ${configuration}`} does not respond there: ` +
      (message ?? "no reason given"),
    try:
      `start the server of the webhook on ${cluster}, or correct or delete its configuration there ` +
      `('flotilla ${look} --clusters ${cluster}' shows it); the hub retries automatically`,
  };
}

/** A copy that the hub itself did not send, or did not write over another object: the member rejected nothing. */
function unsentProblem(resource: Explanation["resource"], cluster: string, message = ""): Problem | undefined {
  // Karmada's message for an existing object that the hub did not create.
  if (message.includes(`already exists in the cluster ${cluster}`))
    return {
      what: `the hub did not change the object on ${cluster}, which it does not manage: ${message}`,
      try:
        "it already existed: take it over with conflictResolution: Overwrite in the policy, or rename or delete " +
        `one of the two; ${inspectCommand(resource, cluster)}`,
    };
  if (message.includes(`in the cluster ${cluster} belongs to a ManifestWork`))
    return {
      what: `the hub did not change the object on ${cluster}: ${message}`,
      try: "delete the ManifestWork, or remove the object from it, or from the policy; the hub then continues automatically",
    };
  const [, rule, webhook] = FAILED_RULE.exec(message) ?? [];
  if (rule !== undefined)
    return {
      what: `the hub did not send it to ${cluster}, because a rule failed on the hub: ${message}`,
      try: `correct the rule in ResourceInterpreterCustomization ${rule}; 'flotilla interpret' runs it on an object`,
    };
  if (webhook !== undefined)
    return {
      what: `the hub did not send it to ${cluster}, because an interpreter webhook failed: ${message}`,
      try: `correct or start interpreter webhook ${webhook}; the hub retries automatically`,
    };
  if (message.includes(INEXACT_INTEGER))
    return {
      what: `the hub did not send it to ${cluster}: ${message}`,
      try: "use a smaller integer, or a string if the kind accepts one, in the template or override policy",
    };
  return undefined;
}

/** How the errors of rules begin that run on the hub: of a customization, or of a webhook. */
const FAILED_RULE =
  /^(?:running \w+ of ResourceInterpreterCustomization ([a-z0-9.-]+) on |calling webhook (\S{1,253}) for \w+ of )/;

export function inspectCommand(
  { apiVersion, kind, namespace, name }: Explanation["resource"],
  cluster: string,
): string {
  const { group } = parseApiVersion(apiVersion);
  return (
    "inspect it there: 'flotilla describe " +
    `${kind.toLowerCase()}${group ? `.${group}` : ""}/${name}${namespace ? ` -n ${namespace}` : ""} --clusters ` +
    `${cluster}'`
  );
}

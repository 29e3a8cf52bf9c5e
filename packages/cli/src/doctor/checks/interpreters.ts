/** Checks that custom interpreter rules work: scripts in customizations, and webhooks. */
import { Event } from "@flotilla/kubernetes";
import {
  clusterNameOf,
  ResourceInterpreterCustomization,
  ResourceInterpreterWebhookConfiguration,
  Work,
} from "@flotilla/karmada";
import type { DeepReadonly } from "@flotilla/base";
import { checkCustomization, customizationIn, findConflicts, INTERPRETED } from "@flotilla/flotilla";
import { findCondition, formatAge, HUB } from "@flotilla/apimachinery";
import type { Condition } from "@flotilla/apimachinery";
import { eachObject } from "@flotilla/client";
import { certificateLifetime } from "../certificate-facts.ts";
import { defineCheck } from "../doctor-check.ts";
import type { DoctorFinding } from "../doctor-check.ts";
import type { DoctorContext } from "../context.ts";
import { nameMembers } from "../../health/name-members.ts";
import { samplesOf } from "../../health/metrics-samples.ts";
import type { Sample } from "../../health/metrics-samples.ts";
import { askRaw } from "../raw-answers.ts";
import {
  failingNow,
  failureAdvice,
  HUB_RULES,
  isOfUsersRule,
  ofExisting,
  readRuleEvents,
} from "../../health/rule-events.ts";
import type { RuleEvent } from "../../health/rule-events.ts";
import { objectIn } from "./works.ts";
import { counted } from "../../text-layout.ts";

export interface InterpreterFacts {
  customizations: readonly DeepReadonly<ResourceInterpreterCustomization>[];
  webhooks: readonly DeepReadonly<ResourceInterpreterWebhookConfiguration>[];
  /** Rules that fail for an object of the hub. */
  failing: readonly Pick<RuleEvent, "reason" | "object" | "message" | "atMs">[];
  /** Their condition `Interpreted` shows the rules that fail for the object of a member. */
  works: readonly DeepReadonly<Work>[];
  quarantined: readonly Sample[];
  /** 1 if the last call failed. */
  scriptsFailing: readonly Sample[];
  webhooksFailing: readonly Sample[];
  scriptFailures: readonly Sample[];
  webhookFailures: readonly Sample[];
  unseen: readonly string[];
}

export const interpretersCheck = defineCheck<InterpreterFacts>({
  name: "interpreters",
  summary: "custom interpreter rules work: scripts run, webhooks respond",
  reports:
    "A problem for each object on which an existing rule fails (events such as `GetReplicasFailed` that no " +
    "success has followed, and Works with `Interpreted=False`), for scripts that do not compile or conflict " +
    "with another, for scripts in quarantine, and for webhooks whose CA has expired. A warning for scripts " +
    "and webhooks whose last call failed, from the hub's metrics.",
  async gather(context) {
    const unseen: string[] = [];
    const { client, clock, lists, only, signal } = context;
    const [customizations, webhooks, works, events, metrics] = await Promise.all([
      lists.all(ResourceInterpreterCustomization),
      lists.all(ResourceInterpreterWebhookConfiguration),
      lists.all(Work),
      readRuleEvents(
        (fieldSelector) => Array.fromAsync(eachObject(client, Event, { cluster: HUB, fieldSelector, signal })),
        HUB_RULES,
      ),
      readMetrics(context, unseen),
    ]);
    return {
      customizations,
      webhooks,
      failing: await ofExisting(failingNow(events, clock.now()), client, signal),
      works: works.filter(
        (work) =>
          interpreted(work)?.status === "False" &&
          (!only || only.has(clusterNameOf(work.metadata.namespace ?? "") ?? "")),
      ),
      quarantined: samplesOf(metrics, "flotilla_interpreter_script_quarantined"),
      scriptsFailing: samplesOf(metrics, "flotilla_interpreter_script_failing"),
      webhooksFailing: samplesOf(metrics, "flotilla_interpreter_webhook_failing"),
      scriptFailures: samplesOf(metrics, "flotilla_interpreter_script_failures_total"),
      webhookFailures: samplesOf(metrics, "flotilla_interpreter_webhook_failures_total"),
      unseen,
    };
  },
  judge(facts, { nowMs }) {
    const failing = [...facts.failing, ...failingOnMembers(facts.works)].filter(
      ({ message }) => !isOfDeletedRule(message, facts),
    );
    const findings = [
      ...failing.map(({ object, reason, message, atMs }): DoctorFinding => ({
        severity: "problem",
        about: object,
        seen: `${message} (${reason}, ${formatAge(nowMs - atMs)} ago)`,
        ...(isOfUsersRule(message) ? cureOfRule(message, facts) : cureWithoutRule({ reason, message })),
      })),
      ...facts.customizations.flatMap((customization) => scriptFindings(customization, facts.customizations)),
      ...facts.quarantined
        .filter(({ value }) => value > 0)
        .map(({ labels }): DoctorFinding => ({
          severity: "problem",
          about: `ResourceInterpreterCustomization ${labels["customization"] ?? ""}`,
          seen: `Its ${labels["operation"] ?? "script"} exceeded its limits three times in a row and now runs outside the hub's process, slowly.`,
          fix: "Make the script cheaper; changing its text ends the quarantine.",
          commands: [checkCommand(labels["customization"] ?? "NAME")],
        })),
      ...webhookFindings(facts, nowMs),
      ...counterFindings(facts),
    ];
    return {
      seen:
        `${counted(facts.customizations.length, "customization")}, ` +
        `${counted(facts.webhooks.length, "webhook configuration")}, ${counted(failing.length, "rule")} failing`,
      findings,
      unseen: facts.unseen,
    };
  },
});

const interpreted = (work: DeepReadonly<Work>): DeepReadonly<Condition> | undefined =>
  findCondition(work.status?.conditions, INTERPRETED);

/** One for each object and cause: a rule usually fails on all members alike. */
function failingOnMembers(works: InterpreterFacts["works"]): InterpreterFacts["failing"][number][] {
  const found = works.flatMap((work) => {
    const failure = interpreted(work);
    return failure
      ? [{ object: objectIn(work), failure, member: clusterNameOf(work.metadata.namespace ?? "") ?? "" }]
      : [];
  });
  const byCause = Map.groupBy(found, ({ object, failure }) => `${object} ${failure.reason} ${failure.message}`);
  return [...byCause.values()].flatMap((same) => {
    const [{ object, failure }] = same as [(typeof same)[number]];
    return {
      object,
      reason: failure.reason ?? INTERPRETED,
      message: `on ${nameMembers(same.map(({ member }) => member))}: ${failure.message}`,
      atMs: Date.parse(failure.lastTransitionTime ?? ""),
    };
  });
}

const checkCommand = (name: string): string =>
  `kubectl get resourceinterpretercustomization ${name} -o yaml | flotilla interpret -f - --check`;

async function readMetrics(context: DoctorContext, unseen: string[]): Promise<string> {
  const { status, text } = await askRaw(context, "/metrics", "text/plain");
  if (status === 200) return text;
  unseen.push(`the hub's metrics: it returned ${status}`);
  return "";
}

/** The hub may have been stopped when the rule was deleted; then no event reports that the failure is over. */
function isOfDeletedRule(message: string, { customizations }: InterpreterFacts): boolean {
  const name = customizationIn(message);
  return name !== undefined && !customizations.some(({ metadata }) => metadata.name === name);
}

function cureWithoutRule(failure: Pick<RuleEvent, "reason" | "message">): Pick<DoctorFinding, "fix" | "commands"> {
  const advice = failureAdvice(failure);
  return { fix: `${advice.charAt(0).toUpperCase()}${advice.slice(1)}.`, commands: [] };
}

function cureOfRule(message: string, { customizations }: InterpreterFacts): Pick<DoctorFinding, "fix" | "commands"> {
  const named = customizations.find(({ metadata }) => message.includes(metadata.name));
  if (named)
    return {
      fix: "Fix its script; `flotilla interpret` runs it on an object without a hub.",
      commands: [
        checkCommand(named.metadata.name),
        `kubectl edit resourceinterpretercustomization ${named.metadata.name}`,
      ],
    };
  if (/webhook/i.test(message))
    return {
      fix: "Restore the webhook's server, or set flotilla.dev/failure-policy on its configuration.",
      commands: ["kubectl get resourceinterpreterwebhookconfigurations -o yaml"],
    };
  return {
    fix: "Check the object and the rule of its kind.",
    commands: ["kubectl get resourceinterpretercustomizations"],
  };
}

/** The hub rejects such scripts, but older ones or restored ones may still exist. */
function scriptFindings(
  customization: DeepReadonly<ResourceInterpreterCustomization>,
  all: InterpreterFacts["customizations"],
): DoctorFinding[] {
  const { name } = customization.metadata;
  return [...checkCustomization(customization).errors, ...findConflicts(customization, all)].map(
    ({ field, message }) => ({
      severity: "problem",
      about: `ResourceInterpreterCustomization ${name}`,
      seen: `${field}: ${message}`,
      fix: "Fix the script, or delete one of two customizations for the same operation.",
      commands: [checkCommand(name)],
    }),
  );
}

function webhookFindings({ webhooks }: InterpreterFacts, nowMs: number): DoctorFinding[] {
  return webhooks.flatMap(({ metadata, webhooks: hooks }) =>
    hooks.flatMap(({ name, clientConfig }): DoctorFinding[] => {
      const lifetime =
        clientConfig.caBundle === undefined
          ? undefined
          : certificateLifetime(Buffer.from(clientConfig.caBundle, "base64").toString("utf8"));
      return lifetime && lifetime.toMs < nowMs
        ? [
            {
              severity: "problem",
              about: `ResourceInterpreterWebhookConfiguration ${metadata.name}`,
              seen: `The CA of ${name} expired ${formatAge(nowMs - lifetime.toMs)} ago, so the hub does not trust its server.`,
              fix: "Issue a new certificate for its server, and set caBundle to the new CA.",
              commands: [`kubectl edit resourceinterpreterwebhookconfiguration ${metadata.name}`],
            },
          ]
        : [];
    }),
  );
}

/** What failed when it was last called: the counters alone also count what has been corrected since. */
function counterFindings(facts: InterpreterFacts): DoctorFinding[] {
  const known = new Set(facts.customizations.map(({ metadata }) => metadata.name));
  const scripts = facts.scriptsFailing
    .filter(({ value, labels }) => value > 0 && known.has(labels["customization"] ?? ""))
    .map(({ labels }): DoctorFinding => ({
      severity: "warning",
      about: `ResourceInterpreterCustomization ${labels["customization"] ?? ""}`,
      seen: `The last call of its ${labels["operation"] ?? "script"} failed${failuresOf(labels, facts.scriptFailures, "script")}.`,
      fix: "Run it on the object it fails on.",
      commands: [
        `flotilla interpret -f RULES.yaml --operation ${labels["operation"] ?? "OPERATION"} --desired-file OBJECT.yaml`,
      ],
    }));
  const hooks = facts.webhooksFailing
    .filter(({ value }) => value > 0)
    .map(({ labels }): DoctorFinding => ({
      severity: "warning",
      about: `interpreter webhook ${labels["webhook"] ?? ""}`,
      seen: `Its last call for ${labels["operation"] ?? "an operation"} failed${failuresOf(labels, facts.webhookFailures, "configuration")}.`,
      fix: "Check its server, and the hub's connection to it.",
      commands: ["kubectl get resourceinterpreterwebhookconfigurations -o yaml"],
    }));
  return [...scripts, ...hooks];
}

/** `; 28 calls failed (error) since the hub started or the script changed` */
function failuresOf(of: Sample["labels"], counters: readonly Sample[], what: string): string {
  const failed = counters.filter(
    ({ value, labels }) => value > 0 && Object.entries(of).every(([name, text]) => labels[name] === text),
  );
  const sum = failed.reduce((total, { value }) => total + value, 0);
  const reasons = failed.map(({ labels }) => labels["reason"] ?? "error").join(", ");
  return sum === 0 ? "" : `; ${counted(sum, "call")} failed (${reasons}) since the hub started or the ${what} changed`;
}

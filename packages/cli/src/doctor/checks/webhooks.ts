/**
 * Checks the programs of others that the hub's API server calls: admission and conversion webhooks, aggregated servers;
 * and admission webhooks that members could not call for what the hub delivers.
 */
import { findCondition } from "@flotilla/apimachinery";
import { messageOf } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { uncalledWebhookIn } from "@flotilla/flotilla";
import { clusterNameOf, Work } from "@flotilla/karmada";
import { APIService } from "@flotilla/kubernetes";
import { brokenPrograms, hubProgramsOf, isFailing, isUnavailable } from "../../health/hub-programs.ts";
import type { HubPrograms } from "../../health/hub-programs.ts";
import { samplesOf } from "../../health/metrics-samples.ts";
import type { Sample } from "../../health/metrics-samples.ts";
import { defineCheck } from "../doctor-check.ts";
import type { DoctorFinding } from "../doctor-check.ts";
import { askRaw } from "../raw-answers.ts";
import { counted } from "../../text-layout.ts";

export interface WebhookFacts extends HubPrograms {
  /** Calls and their total duration, by webhook and operation. */
  calls: readonly Sample[];
  seconds: readonly Sample[];
  /** Works that their member could not check, because it could not call a webhook. */
  uncalled: readonly { cluster: string; webhook: string; message: string }[];
  unseen: readonly string[];
}

const DURATIONS = "apiserver_admission_webhook_admission_duration_seconds";
/** Every matching write waits for the webhook. */
const SLOW_SECONDS = 1;

export const webhooksCheck = defineCheck<WebhookFacts>({
  name: "webhooks",
  summary: "admission and conversion webhooks respond in time, and aggregated servers are available",
  reports:
    "A problem for each admission webhook and each conversion webhook whose last call failed, and for each " +
    "APIService whose condition `Available` is not `True`, with its message. A warning for admission " +
    "webhooks that take longer than a second on average. Figures of webhooks are those of the hub since it " +
    "started. Webhooks of members are seen only where they fail what the hub delivers: a problem for each " +
    "that a member could not call for a Work that is not applied.",
  async gather(context) {
    const unseen: string[] = [];
    const [services, works, page] = await Promise.all([
      context.lists.all(APIService),
      context.lists.all(Work).catch((error: unknown) => {
        context.signal.throwIfAborted();
        unseen.push(`webhooks of members: ${messageOf(error)}`);
        return [];
      }),
      askRaw(context, "/metrics", "text/plain"),
    ]);
    if (page.status !== 200) unseen.push(`the hub's metrics: it returned ${page.status}`);
    const text = page.status === 200 ? page.text : "";
    return {
      ...hubProgramsOf(services, text),
      calls: samplesOf(text, `${DURATIONS}_count`),
      seconds: samplesOf(text, `${DURATIONS}_sum`),
      uncalled: works.flatMap(uncalledIn),
      unseen,
    };
  },
  judge(facts, { nowMs }) {
    const { services, failing, calls, seconds, uncalled, unseen } = facts;
    const unavailable = services.filter(isUnavailable);
    const dead = failing.filter(isFailing);
    const findings: DoctorFinding[] = [
      ...brokenPrograms(facts, nowMs).map(({ kind, name, seen, fix, commands }): DoctorFinding => ({
        severity: "problem",
        about: kind === "conversion webhook" ? `${kind} of ${name}` : `${kind} ${name}`,
        seen,
        fix,
        commands,
      })),
      ...slowWebhooks(calls, seconds, dead),
      ...uncalledOnMembers(uncalled),
    ];
    const names = new Set([...calls, ...failing].map(({ labels }) => labels["name"] ?? ""));
    return {
      seen:
        `on the hub: ${counted(names.size, "webhook")} called, ${counted(dead.length, "is", "are")} failing; ` +
        `${services.length - unavailable.length} of ${counted(services.length, "aggregated server")} ` +
        `available; on members: ${counted(uncalled.length, "Work")} not applied because a webhook does not respond`,
      findings,
      unseen,
    };
  },
});

function uncalledIn({ metadata, status }: DeepReadonly<Work>): WebhookFacts["uncalled"] {
  const cluster = clusterNameOf(metadata.namespace ?? "");
  const applied = findCondition(status?.conditions ?? [], "Applied");
  const message = applied?.status === "False" ? (applied.message ?? "") : "";
  const webhook = uncalledWebhookIn(message);
  return cluster === undefined || webhook === undefined ? [] : [{ cluster, webhook, message }];
}

function uncalledOnMembers(uncalled: WebhookFacts["uncalled"]): DoctorFinding[] {
  const byWebhook = Map.groupBy(uncalled, ({ cluster, webhook }) => `${webhook} on ${cluster}`);
  return Array.from(byWebhook, ([title, of]) => ({
    severity: "problem" as const,
    about: `admission webhook ${title}`,
    seen: `It does not respond, so that ${counted(of.length, "Work is", "Works are")} not applied: ${of[0]?.message ?? ""}`,
    fix: "Restore its server on the member, or correct or delete its configuration there.",
    commands: [
      `flotilla get validatingwebhookconfigurations,mutatingwebhookconfigurations --clusters ${of[0]?.cluster ?? ""}`,
    ],
  }));
}

function slowWebhooks(calls: readonly Sample[], seconds: readonly Sample[], dead: readonly Sample[]): DoctorFinding[] {
  const sum = (samples: readonly Sample[]): Map<string, number> => {
    const sums = new Map<string, number>();
    for (const { labels, value } of samples)
      sums.set(labels["name"] ?? "", (sums.get(labels["name"] ?? "") ?? 0) + value);
    return sums;
  };
  const total = sum(seconds);
  const isDead = new Set(dead.map(({ labels }) => labels["name"] ?? ""));
  return [...sum(calls)].flatMap(([name, count]): DoctorFinding[] => {
    const average = count === 0 ? 0 : (total.get(name) ?? 0) / count;
    if (average < SLOW_SECONDS || isDead.has(name)) return [];
    return [
      {
        severity: "warning",
        about: `admission webhook ${name}`,
        seen: `It takes ${average.toFixed(1)} s on average, and every request that it is for waits.`,
        fix: "Give its server more resources, narrow its rules, or lower its timeoutSeconds.",
        commands: ["kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations"],
      },
    ];
  });
}

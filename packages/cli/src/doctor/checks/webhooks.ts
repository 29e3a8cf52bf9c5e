/** Checks the programs of others that the hub's API server calls: admission and conversion webhooks, aggregated servers. */
import { APIService } from "@flotilla/kubernetes";
import { brokenPrograms, hubProgramsOf, isFailing, isUnavailable } from "../../health/hub-programs.ts";
import type { HubPrograms } from "../../health/hub-programs.ts";
import { samplesOf } from "../../health/metrics-samples.ts";
import type { Sample } from "../../health/metrics-samples.ts";
import { counted, defineCheck } from "../check.ts";
import type { DoctorFinding } from "../check.ts";
import { askRaw } from "../raw-answers.ts";

export interface WebhookFacts extends HubPrograms {
  /** Calls and their total duration, by webhook and operation. */
  calls: readonly Sample[];
  seconds: readonly Sample[];
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
    "started.",
  async gather(context) {
    const unseen: string[] = [];
    const [services, page] = await Promise.all([
      context.lists.all(APIService),
      askRaw(context, "/metrics", "text/plain"),
    ]);
    if (page.status !== 200) unseen.push(`the hub's metrics: it returned ${page.status}`);
    const text = page.status === 200 ? page.text : "";
    return {
      ...hubProgramsOf(services, text),
      calls: samplesOf(text, `${DURATIONS}_count`),
      seconds: samplesOf(text, `${DURATIONS}_sum`),
      unseen,
    };
  },
  judge(facts, { nowMs }) {
    const { services, failing, calls, seconds, unseen } = facts;
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
    ];
    const names = new Set([...calls, ...failing].map(({ labels }) => labels["name"] ?? ""));
    return {
      seen:
        `${counted(names.size, "webhook")} called, ${counted(dead.length, "is", "are")} failing; ` +
        `${services.length - unavailable.length} of ${counted(services.length, "aggregated server")} ` +
        "available",
      findings,
      unseen,
    };
  },
});

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

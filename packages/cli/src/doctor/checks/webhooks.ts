/** Checks the programs of others that the hub's API server calls: admission and conversion webhooks, aggregated servers. */
import { APIService, availabilityOf } from "@flotilla/kubernetes";
import { formatAge } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import { counted, defineCheck } from "../check.ts";
import type { DoctorFinding } from "../check.ts";
import { samplesOf } from "../metrics-samples.ts";
import type { Sample } from "../metrics-samples.ts";
import { askRaw } from "../raw-answers.ts";

export interface WebhookFacts {
  services: readonly DeepReadonly<APIService>[];
  /** Calls in a row that failed, by webhook. */
  failing: readonly Sample[];
  /** Calls and their total duration, by webhook and operation. */
  calls: readonly Sample[];
  seconds: readonly Sample[];
  /** Calls in a row that failed, by definition. */
  failingConversions: readonly Sample[];
  unseen: readonly string[];
}

const DURATIONS = "apiserver_admission_webhook_admission_duration_seconds";
/** Every matching write waits for the webhook. */
const SLOW_SECONDS = 1;

export const webhooksCheck = defineCheck<WebhookFacts>({
  name: "webhooks",
  summary: "admission and conversion webhooks respond in time, and aggregated servers are available",
  reports:
    "A problem for each admission webhook and each conversion webhook whose last call failed, and for each APIService whose condition `Available` is not `True`, with its message. A warning for admission webhooks that take longer than a second on average. Figures of webhooks are those of the hub since it started.",
  async gather(context) {
    const unseen: string[] = [];
    const [services, page] = await Promise.all([
      context.lists.all(APIService),
      askRaw(context, "/metrics", "text/plain"),
    ]);
    if (page.status !== 200) unseen.push(`the hub's metrics: it returned ${page.status}`);
    const text = page.status === 200 ? page.text : "";
    return {
      services: services.filter(({ spec }) => spec.service !== undefined),
      failing: samplesOf(text, "flotilla_admission_webhook_failures"),
      calls: samplesOf(text, `${DURATIONS}_count`),
      seconds: samplesOf(text, `${DURATIONS}_sum`),
      failingConversions: samplesOf(text, "flotilla_conversion_webhook_failures"),
      unseen,
    };
  },
  judge({ services, failing, calls, seconds, failingConversions, unseen }, { nowMs }) {
    const unavailable = services.filter((service) => availabilityOf(service)?.status !== "True");
    const dead = failing.filter(({ value }) => value > 0);
    const findings: DoctorFinding[] = [
      ...dead.map(({ labels, value }): DoctorFinding => ({
        severity: "problem",
        about: `admission webhook ${labels["name"] ?? ""}`,
        seen: `Its last ${counted(value, "call")} failed. Requests that it is for fail if its failurePolicy is Fail, and are carried out without it otherwise.`,
        fix: "Restore its server, or delete its configuration. The hub's log has the reason.",
        commands: [
          `kubectl get ${labels["type"] ?? "validating"}webhookconfiguration ${labels["configuration"] ?? "NAME"} -o yaml`,
        ],
      })),
      ...failingConversions
        .filter(({ value }) => value > 0)
        .map(({ labels, value }): DoctorFinding => ({
          severity: "problem",
          about: `conversion webhook of ${labels["crd_name"] ?? ""}`,
          seen: `Its last ${counted(value, "call")} failed. Objects cannot be read or written in versions other than the stored one.`,
          fix: "Restore its server. The hub's log has the reason.",
          commands: [`kubectl get crd ${labels["crd_name"] ?? "NAME"} -o yaml`],
        })),
      ...unavailable.map((service): DoctorFinding => {
        const { name } = service.metadata;
        const { reason = "", message = "", lastTransitionTime } = availabilityOf(service) ?? {};
        const since =
          lastTransitionTime === undefined ? "" : ` for ${formatAge(nowMs - Date.parse(lastTransitionTime))}`;
        return {
          severity: "problem",
          about: `APIService ${name}`,
          seen:
            reason === ""
              ? "It has not been checked yet."
              : `It is unavailable${since}: ${message} (${reason}). Its kinds cannot be used, and Namespaces cannot be deleted.`,
          fix: "Restore its server, or delete the APIService.",
          commands: [`kubectl describe apiservice ${name}`],
        };
      }),
      ...slowWebhooks(calls, seconds, dead),
    ];
    const names = new Set([...calls, ...failing].map(({ labels }) => labels["name"] ?? ""));
    return {
      seen: `${counted(names.size, "webhook")} called, ${counted(dead.length, "is", "are")} failing; ${services.length - unavailable.length} of ${counted(services.length, "aggregated server")} available`,
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

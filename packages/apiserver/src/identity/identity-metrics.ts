/** Metrics of who may do what: calls of authorization webhooks, and configurations that changed while the server ran. */
import { counter, Counts, gauge } from "@flotilla/base";
import type { Metric, MetricsText } from "@flotilla/base";
import { authorizationMetrics, AuthorizationMetrics } from "./authorization-metrics.ts";

const RELOADED = "by status: success or failure. After a failure the one before stays in use.";

interface Reloads {
  total: Metric;
  last: Metric;
}

/** Kubernetes' names. */
const reloadsOf = (kind: "authentication" | "authorization"): Reloads => ({
  total: counter(
    `apiserver_${kind}_config_controller_automatic_reloads_total`,
    `Changes of the ${kind} configuration, ${RELOADED}`,
    "status",
  ),
  last: gauge(
    `apiserver_${kind}_config_controller_automatic_reload_last_timestamp_seconds`,
    `Changes of the ${kind} configuration: When the last such change was seen, in seconds since 1970.`,
    "status",
  ),
});
const KUBERNETES = {
  "--authentication-config": reloadsOf("authentication"),
  "--authorization-config": reloadsOf("authorization"),
};
const FILES = counter(
  "flotilla_configuration_reloads_total",
  `Changes of files with authorities or kubeconfigs of webhooks, by the flag that names them and ${RELOADED}`,
  "flag",
  "status",
);

export const identityMetrics: readonly Metric[] = [
  ...authorizationMetrics,
  ...Object.values(KUBERNETES).flatMap(({ total, last }) => [total, last]),
  FILES,
];

export type ReloadStatus = "success" | "failure";
interface Family {
  total: Counts;
  last: Metric;
  lastMs: Map<ReloadStatus, number>;
}

export class IdentityMetrics {
  readonly authorization = new AuthorizationMetrics();
  readonly #families = new Map<string, Family>(
    Object.entries(KUBERNETES).map(([flag, { total, last }]) => [
      flag,
      { total: new Counts(total), last, lastMs: new Map() },
    ]),
  );
  readonly #files = new Counts(FILES);

  /** The configuration of this flag changed. */
  reloaded(flag: string, status: ReloadStatus, nowMs: number): void {
    const family = this.#families.get(flag);
    if (!family) return this.#files.add([flag, status]);
    family.total.add([status]);
    family.lastMs.set(status, nowMs);
  }

  write(text: MetricsText): void {
    this.authorization.write(text);
    for (const { total, last, lastMs } of this.#families.values()) {
      total.write(text);
      text.family(last);
      for (const [status, ms] of lastMs) text.sample(last.name, [["status", status]], ms / 1000);
    }
    this.#files.write(text);
  }
}

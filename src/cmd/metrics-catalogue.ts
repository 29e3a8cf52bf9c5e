/**
 * Every metric of Flotilla, by the page that has it: what the reference is written from, and what a test holds the
 * pages against.
 */
import { serverMetrics } from "../apiserver/index.ts";
import { processMetrics } from "../base/index.ts";
import type { Metric } from "../base/index.ts";
import { hookMetrics, scriptMetrics } from "../interpreter/index.ts";
import { membersPageMetrics, monitoringMetrics, workloadMetrics } from "../monitoring/index.ts";
import { controllerMetrics } from "../runtime/index.ts";
import { agentMetrics, sharedAgentMetrics } from "./agent-metrics.ts";

export interface MetricsPage {
  title: string;
  path: string;
  about: string;
  metrics: readonly Metric[];
}

const MEMBER = "member_cluster";
/** What every controller in a process tells, whatever it is for. */
const everyProcess: readonly Metric[] = [...controllerMetrics, ...scriptMetrics, ...hookMetrics, ...processMetrics];

export const metricsPages: readonly MetricsPage[] = [
  {
    title: "The hub",
    path: "/metrics",
    about:
      "The API server as Kubernetes tells of it, the controllers as controller-runtime does, the pipeline and the members under Karmada's names, Placements under Open Cluster Management's, and what neither has as `flotilla_…`.",
    metrics: [...serverMetrics, ...everyProcess, ...monitoringMetrics],
  },
  {
    title: "All members",
    path: "/metrics/members",
    about:
      "What runs on the members, under the names of kruise-state-metrics and kube-state-metrics, with the member as `member_cluster`. `?cluster=NAME` tells of one member.",
    metrics: [
      ...workloadMetrics.map((metric) => ({ ...metric, labels: [MEMBER, ...metric.labels] })),
      ...membersPageMetrics,
    ],
  },
  {
    title: "One simulated member",
    path: "/clusters/NAME/metrics",
    about:
      "Its API server, and its workloads without the label `member_cluster`, as kruise-state-metrics tells of them on a real cluster.",
    metrics: [...serverMetrics, ...processMetrics, ...workloadMetrics],
  },
  {
    title: "An agent",
    path: "/metrics",
    about: "Of `flotilla agent --metrics-address HOST:PORT`.",
    metrics: [...agentMetrics, ...sharedAgentMetrics, ...everyProcess],
  },
];

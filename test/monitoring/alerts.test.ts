/** The alert rules: what they are made of exists, and each fires when it should and not otherwise. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { metricsPages } from "../../src/cmd/metrics-catalogue.ts";
import { parseExpression, selectorsOf } from "./promql-parser.ts";
import type { Expression } from "./promql-parser.ts";
import type { TimedScrape } from "./promql.ts";
import { alertGroups, alertRules, firing } from "./rules.ts";
import { labelsOfMetric } from "./known-metrics.ts";
import { parseMetrics } from "./scrape.ts";

const guide = readFileSync(new URL("../../docs/guides/monitoring.md", import.meta.url), "utf8");
const config = readFileSync(new URL("../../monitoring/prometheus.yaml", import.meta.url), "utf8");

describe("the rules", () => {
  test("have different names, say what is wrong, and lead to what to do", () => {
    expect(new Set(alertRules.map(({ alert }) => alert)).size).toBe(alertRules.length);
    expect(new Set(alertGroups.map(({ name }) => name)).size).toBe(alertGroups.length);
    for (const { alert, labels, annotations } of alertRules) {
      expect(["critical", "warning", "info"], alert).toContain(labels.severity);
      expect(annotations.summary.length, alert).toBeGreaterThan(10);
      expect(annotations.description.length, alert).toBeGreaterThan(10);
      expect(annotations.runbook_url, alert).toBe(`docs/guides/monitoring.md#${alert.toLowerCase()}`);
      expect(guide, alert).toContain(`\n### ${alert}\n`);
    }
  });

  test("are all told in the guide, and the guide tells of no other", () => {
    const told = Array.from(guide.matchAll(/^### (Flotilla\w+)$/gm), ([, name = ""]) => name);

    expect(told.toSorted()).toEqual(alertRules.map(({ alert }) => alert).toSorted());
  });

  test("use metrics, labels and jobs that exist", () => {
    for (const { alert, expr, annotations } of alertRules) {
      const expression = parseExpression(expr);
      for (const { name, matchers } of selectorsOf(expression)) {
        const labels = labelsOfMetric(name);
        expect(labels, `${alert}: ${name}`).toBeDefined();
        for (const { label } of matchers) expect(labels, `${alert}: ${name}`).toContain(label);
        for (const { value } of matchers.filter(({ label }) => label === "job")) expect(config, alert).toContain(`job_name: ${value}\n`);
      }
      for (const label of groupings(expression)) for (const { name } of selectorsOf(expression)) expect(labelsOfMetric(name), `${alert}: ${name}`).toContain(label);
      for (const [, label = ""] of `${annotations.summary} ${annotations.description}`.matchAll(/\$labels\.(\w+)/g)) expect(resultLabels(expression), `${alert} tells of ${label}`).toContain(label);
    }
  });

  test("every page that they need is scraped", () => {
    for (const path of new Set(metricsPages.filter(({ path }) => !path.startsWith("/clusters/")).map(({ path }) => path))) expect(config).toContain(`metrics_path: ${path}\n`);
  });
});

function groupings(expression: Expression): string[] {
  if (expression.type === "aggregate") return [...expression.by, ...groupings(expression.of)];
  if (expression.type === "binary") return [...groupings(expression.left), ...groupings(expression.right)];
  return expression.type === "call" ? expression.args.flatMap(groupings) : [];
}

function resultLabels(expression: Expression): readonly string[] {
  if (expression.type === "aggregate") return expression.by;
  if (expression.type === "call") return resultLabels(expression.args.at(-1) as Expression);
  if (expression.type === "binary") return resultLabels(expression.left);
  return expression.type === "selector" ? (labelsOfMetric(expression.name) ?? []) : [];
}

/** Series as they go on: `name{labels} FIRST+STEP` is so much more each minute. */
interface Case {
  fires: string[];
  quiet: string[];
}
const MINUTES = 90;

function scrapesOf(series: readonly string[]): TimedScrape[] {
  return Array.from({ length: MINUTES + 1 }, (_, minute) => {
    const lines = series.map((line) => {
      const [, id = "", first = "", step = "0"] = /^(.*) (-?[\d.e]+)(?:\+([\d.]+))?$/.exec(line) ?? [];
      return `# HELP ${id.split("{")[0]} x\n# TYPE ${id.split("{")[0]} untyped\n${id} ${Number(first) + Number(step) * minute}`;
    });
    // Families are repeated here, which a real page never does.
    return { timeMs: minute * 60_000, samples: lines.flatMap((text) => parseMetrics(`${text}\n`).samples) };
  });
}

const c = 'member_cluster="paris"';
const workload = (kind: string): string => `${c},namespace="shop",${kind}="web"`;

const cases: Record<string, Case> = {
  FlotillaPropagationFailed: { fires: [`flotilla_works{${c},state="failed"} 1`], quiet: [`flotilla_works{${c},state="applied"} 9`] },
  FlotillaBindingFailed: { fires: ['flotilla_bindings{state="failed"} 1'], quiet: ['flotilla_bindings{state="applied"} 5'] },
  FlotillaBindingUnschedulable: { fires: ['flotilla_bindings{state="unschedulable"} 1'], quiet: ['flotilla_bindings{state="pending"} 1'] },
  FlotillaPropagationStuck: { fires: ['flotilla_bindings{state="pending"} 1'], quiet: ['flotilla_bindings{state="applied"} 1'] },
  FlotillaPropagationSlow: {
    fires: [`flotilla_propagation_applied_seconds_bucket{${c},le="30"} 0`, `flotilla_propagation_applied_seconds_bucket{${c},le="60"} 0+1`, `flotilla_propagation_applied_seconds_bucket{${c},le="+Inf"} 0+1`],
    quiet: [`flotilla_propagation_applied_seconds_bucket{${c},le="1"} 0+1`, `flotilla_propagation_applied_seconds_bucket{${c},le="+Inf"} 0+1`],
  },
  FlotillaPolicyFailing: { fires: ['policy_apply_attempts_total{result="error"} 0+3', 'policy_apply_attempts_total{result="success"} 0+1'], quiet: ['policy_apply_attempts_total{result="error"} 0+1', 'policy_apply_attempts_total{result="success"} 0+3'] },
  FlotillaEvictionStuck: { fires: [`eviction_kind_total{${c},resource_kind="CloneSet"} 2`], quiet: [] },
  FlotillaDrift: { fires: [`flotilla_works_drifted{${c}} 1`], quiet: [] },
  FlotillaInterpreterScriptFailing: {
    fires: ['flotilla_interpreter_script_failures_total{customization="a",operation="ReflectStatus",reason="error"} 0+1'],
    quiet: ['flotilla_interpreter_script_failures_total{customization="a",operation="ReflectStatus",reason="error"} 7'],
  },
  FlotillaInterpreterScriptQuarantined: { fires: ['flotilla_interpreter_script_quarantined{customization="a",operation="Retain"} 1'], quiet: ['flotilla_interpreter_script_quarantined{customization="a",operation="Retain"} 0'] },
  FlotillaInterpreterScriptSlow: {
    fires: ["0.05", "0.25", "+Inf"].map((le) => `flotilla_interpreter_script_duration_seconds_bucket{customization="a",operation="Retain",le="${le}"} 0+${le === "0.05" ? 1 : 2}`),
    quiet: ["0.0025", "0.25", "+Inf"].map((le) => `flotilla_interpreter_script_duration_seconds_bucket{customization="a",operation="Retain",le="${le}"} 0+2`),
  },
  FlotillaInterpreterWebhookFailing: {
    fires: ['flotilla_interpreter_webhook_failures_total{webhook="w",operation="Retain",reason="timeout"} 0+1'],
    quiet: ['flotilla_interpreter_webhook_failures_total{webhook="w",operation="Retain",reason="timeout"} 0'],
  },
  FlotillaManifestWorkFailed: { fires: [`flotilla_manifestworks{${c},state="failed"} 1`], quiet: [`flotilla_manifestworks{${c},state="available"} 1`] },
  FlotillaManifestWorkStuck: { fires: [`flotilla_manifestworks{${c},state="degraded"} 1`], quiet: [`flotilla_manifestworks{${c},state="available"} 1`] },
  FlotillaPlacementUnsatisfied: { fires: ['flotilla_placements{state="misconfigured"} 1'], quiet: ['flotilla_placements{state="satisfied"} 1'] },
  FlotillaManagedClusterUnavailable: {
    fires: [`flotilla_managed_cluster_available{${c}} 0`, `flotilla_managed_cluster_accepted{${c}} 1`],
    quiet: [`flotilla_managed_cluster_available{${c}} 0`, `flotilla_managed_cluster_accepted{${c}} 0`],
  },
  FlotillaManagedClusterWaiting: { fires: [`flotilla_managed_cluster_accepted{${c}} 0`], quiet: [`flotilla_managed_cluster_accepted{${c}} 1`] },
  FlotillaClusterNotReady: { fires: [`cluster_ready_state{${c}} 0`], quiet: [`cluster_ready_state{${c}} 1`] },
  FlotillaMemberBackingOff: { fires: [`flotilla_member_backoff_failures{${c}} 4`], quiet: [`flotilla_member_backoff_failures{${c}} 1`] },
  FlotillaNodesNotReady: { fires: [`cluster_ready_node_number{${c}} 3`, `cluster_node_number{${c}} 5`], quiet: [`cluster_ready_node_number{${c}} 0`, `cluster_node_number{${c}} 0`] },
  FlotillaClusterFull: {
    fires: [`cluster_memory_allocated_bytes{${c}} 95`, `cluster_memory_allocatable_bytes{${c}} 100`, `cluster_cpu_allocated_number{${c}} 1`, `cluster_cpu_allocatable_number{${c}} 100`],
    quiet: [`cluster_cpu_allocated_number{${c}} 80`, `cluster_cpu_allocatable_number{${c}} 100`],
  },
  FlotillaQuotaRefused: { fires: [`flotilla_delivery_refusals_total{${c},reason="quota"} 0+1`], quiet: [`flotilla_delivery_refusals_total{${c},reason="invalid"} 0+1`] },
  FlotillaQuotaUsedUp: {
    fires: ["hard", "used"].map((type) => `kube_resourcequota{${c},namespace="shop",resourcequota="q",resource="pods",type="${type}"} 10`),
    quiet: [`kube_resourcequota{${c},namespace="shop",resourcequota="q",resource="pods",type="used"} 9`, `kube_resourcequota{${c},namespace="shop",resourcequota="q",resource="pods",type="hard"} 10`],
  },
  FlotillaAgentDown: { fires: ['up{job="flotilla-agent",instance="a:9102"} 0'], quiet: ['up{job="flotilla-agent",instance="a:9102"} 1'] },
  FlotillaAgentNotServing: {
    fires: ["Work", "ManifestWork"].map((kind) => `flotilla_agent_serving{kind="${kind}",instance="a:9102"} 0`),
    quiet: ["Work", "ManifestWork"].map((kind) => `flotilla_agent_serving{kind="${kind}",instance="a:9102"} ${kind === "Work" ? 1 : 0}`),
  },
  FlotillaKruiseManagerDown: { fires: [`flotilla_kruise_manager_ready_pods{${c}} 0`], quiet: [`flotilla_kruise_manager_ready_pods{${c}} 1`] },
  FlotillaWorkloadUnhealthy: { fires: [`flotilla_work_objects{${c},health="Unhealthy"} 1`], quiet: [`flotilla_work_objects{${c},health="Healthy"} 1`] },
  FlotillaCloneSetNotReady: { fires: [`kruise_cloneset_status_replicas_ready{${workload("cloneset")}} 2`, `kruise_cloneset_spec_replicas{${workload("cloneset")}} 3`], quiet: [`kruise_cloneset_status_replicas_ready{${workload("cloneset")}} 3`, `kruise_cloneset_spec_replicas{${workload("cloneset")}} 3`] },
  FlotillaStatefulSetNotReady: { fires: [`kruise_statefulset_status_replicas_ready{${workload("statefulset")}} 0`, `kruise_statefulset_spec_replicas{${workload("statefulset")}} 1`], quiet: [`kruise_statefulset_status_replicas_ready{${workload("statefulset")}} 1`, `kruise_statefulset_spec_replicas{${workload("statefulset")}} 1`] },
  FlotillaDaemonSetNotReady: {
    fires: [`kruise_daemonset_status_number_ready{${workload("daemonset")}} 2`, `kruise_daemonset_status_desired_number_scheduled{${workload("daemonset")}} 3`],
    quiet: [`kruise_daemonset_status_number_ready{${workload("daemonset")}} 3`, `kruise_daemonset_status_desired_number_scheduled{${workload("daemonset")}} 3`],
  },
  FlotillaSidecarSetBehind: {
    fires: [`kruise_sidecarset_status_replicas_ready{${workload("sidecarset")}} 2`, `kruise_sidecarset_status_replicas_matched{${workload("sidecarset")}} 3`],
    quiet: [`kruise_sidecarset_status_replicas_ready{${workload("sidecarset")}} 0`, `kruise_sidecarset_status_replicas_matched{${workload("sidecarset")}} 0`],
  },
  FlotillaKruiseNotObserved: {
    fires: [`kruise_statefulset_status_observed_generation{${workload("statefulset")}} 1`, `kruise_statefulset_metadata_generation{${workload("statefulset")}} 2`],
    quiet: [`kruise_statefulset_status_observed_generation{${workload("statefulset")}} 2`, `kruise_statefulset_metadata_generation{${workload("statefulset")}} 2`],
  },
  FlotillaBroadcastJobFailed: { fires: [`kruise_broadcastjob_status_failed{${workload("broadcastjob")}} 1`], quiet: [`kruise_broadcastjob_status_failed{${workload("broadcastjob")}} 0`] },
  FlotillaDown: { fires: ['up{job="flotilla-hub",instance="hub:6443"} 0'], quiet: ['up{job="flotilla-hub",instance="hub:6443"} 1'] },
  FlotillaRestarting: { fires: ['process_start_time_seconds{job="flotilla-hub",instance="hub:6443"} 0+60'], quiet: ['process_start_time_seconds{job="flotilla-hub",instance="hub:6443"} 100'] },
  FlotillaApiErrors: { fires: ['apiserver_request_total{code="500",verb="GET"} 0+1', 'apiserver_request_total{code="200",verb="GET"} 0+9'], quiet: ['apiserver_request_total{code="404",verb="GET"} 0+9', 'apiserver_request_total{code="200",verb="GET"} 0+9'] },
  FlotillaControllerFailing: {
    fires: ['controller_runtime_reconcile_errors_total{controller="cloneset"} 0+3', 'controller_runtime_reconcile_total{controller="cloneset",result="error"} 0+3', 'controller_runtime_reconcile_total{controller="cloneset",result="success"} 0+1'],
    quiet: ['controller_runtime_reconcile_errors_total{controller="cloneset"} 0+1', 'controller_runtime_reconcile_total{controller="cloneset",result="error"} 0+1', 'controller_runtime_reconcile_total{controller="cloneset",result="success"} 0+9'],
  },
  FlotillaQueueStuck: { fires: ['flotilla_workqueue_oldest_seconds{name="execute"} 301'], quiet: ['flotilla_workqueue_oldest_seconds{name="execute"} 2'] },
  FlotillaWatchersBehind: { fires: ["flotilla_watch_backlog_bytes 7000000"], quiet: ["flotilla_watch_backlog_bytes 100"] },
  FlotillaEventLoopSlow: { fires: ['nodejs_eventloop_lag_seconds{quantile="0.99"} 0.8'], quiet: ['nodejs_eventloop_lag_seconds{quantile="0.99"} 0.02'] },
  FlotillaMemoryHigh: { fires: ["nodejs_heap_size_used_bytes 95", "nodejs_heap_size_limit_bytes 100"], quiet: ["nodejs_heap_size_used_bytes 50", "nodejs_heap_size_limit_bytes 100"] },
  FlotillaStoreLarge: { fires: ['apiserver_storage_size_bytes{storage_cluster_id="flotilla"} 9000000000'], quiet: ['apiserver_storage_size_bytes{storage_cluster_id="flotilla"} 1000000'] },
};

describe("an alert", () => {
  test("has a case for firing and one for silence", () => {
    expect(Object.keys(cases).toSorted()).toEqual(alertRules.map(({ alert }) => alert).toSorted());
  });

  for (const [alert, { fires, quiet }] of Object.entries(cases)) {
    test(`${alert} fires when it should, and not otherwise`, () => {
      const rules = alertRules.filter((rule) => rule.alert === alert);

      expect(firing(scrapesOf(fires), rules).map((each) => each.alert)).toEqual([alert]);
      expect(firing(scrapesOf(quiet), rules)).toEqual([]);
    });
  }

  test("waits for its time", () => {
    const rules = alertRules.filter(({ alert }) => alert === "FlotillaPropagationFailed");
    const scrapes = scrapesOf(cases["FlotillaPropagationFailed"]?.fires ?? []);

    expect(firing(scrapes.slice(0, 10), rules)).toEqual([]);
    expect(firing(scrapes.slice(0, 11), rules)).toEqual([{ alert: "FlotillaPropagationFailed", labels: { member_cluster: "paris" }, value: 1 }]);
  });
});

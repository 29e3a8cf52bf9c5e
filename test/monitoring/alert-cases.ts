/** For every alert, a fleet in which it fires and one in which it does not. */

/** Series over time: `name{labels} FIRST+STEP` increases by STEP each minute. */
export interface AlertCase {
  fires: string[];
  quiet: string[];
}
export const MINUTES = 90;

const c = 'member_cluster="paris"';
const workload = (kind: string): string => `${c},namespace="shop",${kind}="web"`;

export const alertCases: Record<string, AlertCase> = {
  FlotillaPropagationFailed: {
    fires: [`flotilla_works{${c},state="failed"} 1`],
    quiet: [`flotilla_works{${c},state="applied"} 9`],
  },
  FlotillaBindingFailed: {
    fires: ['flotilla_bindings{state="failed"} 1'],
    quiet: ['flotilla_bindings{state="applied"} 5'],
  },
  FlotillaBindingUnschedulable: {
    fires: ['flotilla_bindings{state="unschedulable"} 1'],
    quiet: ['flotilla_bindings{state="pending"} 1'],
  },
  FlotillaPropagationStuck: {
    fires: ['flotilla_bindings{state="pending"} 1'],
    quiet: ['flotilla_bindings{state="applied"} 1'],
  },
  FlotillaPropagationSlow: {
    fires: [
      `flotilla_propagation_applied_seconds_bucket{${c},le="30"} 0`,
      `flotilla_propagation_applied_seconds_bucket{${c},le="60"} 0+1`,
      `flotilla_propagation_applied_seconds_bucket{${c},le="+Inf"} 0+1`,
    ],
    quiet: [
      `flotilla_propagation_applied_seconds_bucket{${c},le="1"} 0+1`,
      `flotilla_propagation_applied_seconds_bucket{${c},le="+Inf"} 0+1`,
    ],
  },
  FlotillaPolicyFailing: {
    fires: ['policy_apply_attempts_total{result="error"} 0+3', 'policy_apply_attempts_total{result="success"} 0+1'],
    quiet: ['policy_apply_attempts_total{result="error"} 0+1', 'policy_apply_attempts_total{result="success"} 0+3'],
  },
  FlotillaEvictionStuck: { fires: [`eviction_kind_total{${c},resource_kind="CloneSet"} 2`], quiet: [] },
  FlotillaOscillation: { fires: [`flotilla_stopped_objects{${c}} 1`], quiet: [`flotilla_stopped_objects{${c}} 0`] },
  FlotillaAutoscalersDisagree: {
    fires: ["flotilla_autoscaler_disputes 1"],
    quiet: ["flotilla_autoscaler_disputes 0"],
  },
  FlotillaReleaseFailed: {
    fires: ['flotilla_fleetrollouts{state="RolledBack"} 1'],
    quiet: ['flotilla_fleetrollouts{state="Succeeded"} 4', 'flotilla_fleetrollouts{state="Waiting"} 1'],
  },
  FlotillaDrift: { fires: [`flotilla_works_drifted{${c}} 1`], quiet: [] },
  FlotillaInterpreterScriptFailing: {
    fires: [
      'flotilla_interpreter_script_failures_total{customization="a",operation="ReflectStatus",reason="error"} 0+1',
    ],
    quiet: ['flotilla_interpreter_script_failures_total{customization="a",operation="ReflectStatus",reason="error"} 7'],
  },
  FlotillaInterpreterScriptQuarantined: {
    fires: ['flotilla_interpreter_script_quarantined{customization="a",operation="Retain"} 1'],
    quiet: ['flotilla_interpreter_script_quarantined{customization="a",operation="Retain"} 0'],
  },
  FlotillaInterpreterScriptSlow: {
    fires: ["0.05", "0.25", "+Inf"].map(
      (le) =>
        `flotilla_interpreter_script_duration_seconds_bucket{customization="a",operation="Retain",le="${le}"} 0+${le === "0.05" ? 1 : 2}`,
    ),
    quiet: ["0.0025", "0.25", "+Inf"].map(
      (le) =>
        `flotilla_interpreter_script_duration_seconds_bucket{customization="a",operation="Retain",le="${le}"} 0+2`,
    ),
  },
  FlotillaInterpreterWebhookFailing: {
    fires: ['flotilla_interpreter_webhook_failures_total{webhook="w",operation="Retain",reason="timeout"} 0+1'],
    quiet: ['flotilla_interpreter_webhook_failures_total{webhook="w",operation="Retain",reason="timeout"} 0'],
  },
  FlotillaManifestWorkFailed: {
    fires: [`flotilla_manifestworks{${c},state="failed"} 1`],
    quiet: [`flotilla_manifestworks{${c},state="available"} 1`],
  },
  FlotillaManifestWorkStuck: {
    fires: [`flotilla_manifestworks{${c},state="degraded"} 1`],
    quiet: [`flotilla_manifestworks{${c},state="available"} 1`],
  },
  FlotillaPlacementUnsatisfied: {
    fires: ['flotilla_placements{state="misconfigured"} 1'],
    quiet: ['flotilla_placements{state="satisfied"} 1'],
  },
  FlotillaManagedClusterUnavailable: {
    fires: [`flotilla_managed_cluster_available{${c}} 0`, `flotilla_managed_cluster_accepted{${c}} 1`],
    quiet: [`flotilla_managed_cluster_available{${c}} 0`, `flotilla_managed_cluster_accepted{${c}} 0`],
  },
  FlotillaManagedClusterWaiting: {
    fires: [`flotilla_managed_cluster_accepted{${c}} 0`],
    quiet: [`flotilla_managed_cluster_accepted{${c}} 1`],
  },
  FlotillaClusterNotReady: { fires: [`cluster_ready_state{${c}} 0`], quiet: [`cluster_ready_state{${c}} 1`] },
  FlotillaMemberBackingOff: {
    fires: [`flotilla_member_backoff_failures{${c}} 4`],
    quiet: [`flotilla_member_backoff_failures{${c}} 1`],
  },
  FlotillaNodesNotReady: {
    fires: [`cluster_ready_node_number{${c}} 3`, `cluster_node_number{${c}} 5`],
    quiet: [`cluster_ready_node_number{${c}} 0`, `cluster_node_number{${c}} 0`],
  },
  FlotillaClusterFull: {
    fires: [
      `cluster_memory_allocated_bytes{${c}} 95`,
      `cluster_memory_allocatable_bytes{${c}} 100`,
      `cluster_cpu_allocated_number{${c}} 1`,
      `cluster_cpu_allocatable_number{${c}} 100`,
    ],
    quiet: [`cluster_cpu_allocated_number{${c}} 80`, `cluster_cpu_allocatable_number{${c}} 100`],
  },
  FlotillaQuotaRejected: {
    fires: [`flotilla_delivery_refusals_total{${c},reason="quota"} 0+1`],
    quiet: [`flotilla_delivery_refusals_total{${c},reason="invalid"} 0+1`],
  },
  FlotillaQuotaUsedUp: {
    fires: ["hard", "used"].map(
      (type) => `kube_resourcequota{${c},namespace="shop",resourcequota="q",resource="pods",type="${type}"} 10`,
    ),
    quiet: [
      `kube_resourcequota{${c},namespace="shop",resourcequota="q",resource="pods",type="used"} 9`,
      `kube_resourcequota{${c},namespace="shop",resourcequota="q",resource="pods",type="hard"} 10`,
    ],
  },
  FlotillaAgentDown: {
    fires: ['up{job="flotilla-agent",instance="a:9102"} 0'],
    quiet: ['up{job="flotilla-agent",instance="a:9102"} 1'],
  },
  FlotillaAgentNotServing: {
    fires: ["Work", "ManifestWork"].map((kind) => `flotilla_agent_serving{kind="${kind}",instance="a:9102"} 0`),
    quiet: ["Work", "ManifestWork"].map(
      (kind) => `flotilla_agent_serving{kind="${kind}",instance="a:9102"} ${kind === "Work" ? 1 : 0}`,
    ),
  },
  FlotillaKruiseManagerDown: {
    fires: [`flotilla_kruise_manager_ready_pods{${c}} 0`],
    quiet: [`flotilla_kruise_manager_ready_pods{${c}} 1`],
  },
  FlotillaWorkloadUnhealthy: {
    fires: [`flotilla_work_objects{${c},health="Unhealthy"} 1`],
    quiet: [`flotilla_work_objects{${c},health="Healthy"} 1`],
  },
  FlotillaWorkloadStuck: {
    fires: ['flotilla_workloads_unhealthy{resource_kind="Deployment"} 1'],
    quiet: ['flotilla_workload_pods_unready{resource_kind="Deployment"} 1'],
  },
  FlotillaCloneSetNotReady: {
    fires: [
      `kruise_cloneset_status_replicas_ready{${workload("cloneset")}} 2`,
      `kruise_cloneset_spec_replicas{${workload("cloneset")}} 3`,
    ],
    quiet: [
      `kruise_cloneset_status_replicas_ready{${workload("cloneset")}} 3`,
      `kruise_cloneset_spec_replicas{${workload("cloneset")}} 3`,
    ],
  },
  FlotillaStatefulSetNotReady: {
    fires: [
      `kruise_statefulset_status_replicas_ready{${workload("statefulset")}} 0`,
      `kruise_statefulset_spec_replicas{${workload("statefulset")}} 1`,
    ],
    quiet: [
      `kruise_statefulset_status_replicas_ready{${workload("statefulset")}} 1`,
      `kruise_statefulset_spec_replicas{${workload("statefulset")}} 1`,
    ],
  },
  FlotillaDaemonSetNotReady: {
    fires: [
      `kruise_daemonset_status_number_ready{${workload("daemonset")}} 2`,
      `kruise_daemonset_status_desired_number_scheduled{${workload("daemonset")}} 3`,
    ],
    quiet: [
      `kruise_daemonset_status_number_ready{${workload("daemonset")}} 3`,
      `kruise_daemonset_status_desired_number_scheduled{${workload("daemonset")}} 3`,
    ],
  },
  FlotillaSidecarSetBehind: {
    fires: [
      `kruise_sidecarset_status_replicas_ready{${workload("sidecarset")}} 2`,
      `kruise_sidecarset_status_replicas_matched{${workload("sidecarset")}} 3`,
    ],
    quiet: [
      `kruise_sidecarset_status_replicas_ready{${workload("sidecarset")}} 0`,
      `kruise_sidecarset_status_replicas_matched{${workload("sidecarset")}} 0`,
    ],
  },
  FlotillaKruiseNotObserved: {
    fires: [
      `kruise_statefulset_status_observed_generation{${workload("statefulset")}} 1`,
      `kruise_statefulset_metadata_generation{${workload("statefulset")}} 2`,
    ],
    quiet: [
      `kruise_statefulset_status_observed_generation{${workload("statefulset")}} 2`,
      `kruise_statefulset_metadata_generation{${workload("statefulset")}} 2`,
    ],
  },
  FlotillaBroadcastJobFailed: {
    fires: [`kruise_broadcastjob_status_failed{${workload("broadcastjob")}} 1`],
    quiet: [`kruise_broadcastjob_status_failed{${workload("broadcastjob")}} 0`],
  },
  FlotillaDown: {
    fires: ['up{job="flotilla-hub",instance="hub:6443"} 0'],
    quiet: ['up{job="flotilla-hub",instance="hub:6443"} 1'],
  },
  FlotillaRestarting: {
    fires: ['process_start_time_seconds{job="flotilla-hub",instance="hub:6443"} 0+60'],
    quiet: ['process_start_time_seconds{job="flotilla-hub",instance="hub:6443"} 100'],
  },
  FlotillaApiErrors: {
    fires: ['apiserver_request_total{code="500",verb="GET"} 0+1', 'apiserver_request_total{code="200",verb="GET"} 0+9'],
    quiet: ['apiserver_request_total{code="404",verb="GET"} 0+9', 'apiserver_request_total{code="200",verb="GET"} 0+9'],
  },
  FlotillaControllerFailing: {
    fires: [
      'controller_runtime_reconcile_errors_total{controller="cloneset"} 0+3',
      'controller_runtime_reconcile_total{controller="cloneset",result="error"} 0+3',
      'controller_runtime_reconcile_total{controller="cloneset",result="success"} 0+1',
    ],
    quiet: [
      'controller_runtime_reconcile_errors_total{controller="cloneset"} 0+1',
      'controller_runtime_reconcile_total{controller="cloneset",result="error"} 0+1',
      'controller_runtime_reconcile_total{controller="cloneset",result="success"} 0+9',
    ],
  },
  FlotillaQueueStuck: {
    fires: ['flotilla_workqueue_oldest_seconds{name="execute"} 301'],
    quiet: ['flotilla_workqueue_oldest_seconds{name="execute"} 2'],
  },
  FlotillaWatchersBehind: {
    fires: ["flotilla_watch_backlog_bytes 7000000"],
    quiet: ["flotilla_watch_backlog_bytes 100"],
  },
  FlotillaEventLoopSlow: {
    fires: ["nodejs_eventloop_lag_p99_seconds 0.8"],
    quiet: ["nodejs_eventloop_lag_p99_seconds 0.02"],
  },
  FlotillaMemoryHigh: {
    fires: ["nodejs_heap_size_used_bytes 95", "nodejs_heap_size_limit_bytes 100"],
    quiet: ["nodejs_heap_size_used_bytes 50", "nodejs_heap_size_limit_bytes 100"],
  },
  FlotillaStoreFull: {
    fires: ["flotilla_store_value_bytes 95", "flotilla_store_quota_bytes 100"],
    quiet: ["flotilla_store_value_bytes 85", "flotilla_store_quota_bytes 100"],
  },
  FlotillaStoreLarge: {
    fires: ['apiserver_storage_size_bytes{storage_cluster_id="flotilla"} 9000000000'],
    quiet: ['apiserver_storage_size_bytes{storage_cluster_id="flotilla"} 1000000'],
  },
};

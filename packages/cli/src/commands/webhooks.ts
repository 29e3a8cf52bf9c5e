/** `flotilla webhooks`: answers for an API server of Kubernetes that keeps a hub's objects, until Ctrl-C. */
import { accountUser } from "@flotilla/kubernetes";
import { UsageError } from "@flotilla/base";
import { CONTROLLERS_NAME, INSTALL_NAMESPACE, WEBHOOKS_PORT } from "@flotilla/flotilla";
import { defineCommand } from "../command.ts";
import { projectsIn } from "../install/install-options.ts";
import { logFlags, logOptions } from "./log-flags.ts";
import { namesIn } from "./serve-flags.ts";

export const webhooksCommand = defineCommand({
  name: "webhooks",
  summary: "serve the admission, conversion and proxy requests of a hub on an existing cluster",
  details:
    "The API server of a cluster that 'flotilla install' made a hub asks this process about writes of our " +
    "kinds, has it convert their versions, and passes on requests for the proxy of Clusters, for " +
    "explanations and for decisions. It makes its certificate, keeps it in a Secret, renews it, and has " +
    "the API server trust it. Several processes may run; none of them leads. 'flotilla install' runs it in " +
    "the cluster; run it yourself only where the installation was made with --address.",
  serves: true,
  example: [
    {
      says: "Run the webhooks of a cluster outside of it.",
      run: "flotilla webhooks --kubeconfig ./webhooks.kubeconfig --port 9443",
    },
  ],
  args: [],
  flags: {
    kubeconfig: { type: "string", value: "FILE", description: "kubeconfig of the cluster" },
    "in-cluster": { type: "boolean", description: "use the service account of this pod" },
    namespace: {
      type: "string",
      value: "NS",
      default: INSTALL_NAMESPACE,
      description: "the namespace of the installation",
    },
    port: {
      type: "integer",
      value: "P",
      default: WEBHOOKS_PORT,
      minimum: 0,
      maximum: 65_535,
      description: "the port to listen on",
    },
    "bind-address": { type: "string", value: "IP", default: "127.0.0.1", description: "the address to listen on" },
    "tls-san": {
      type: "string",
      value: "A,B",
      description: "more names and addresses in the serving certificate",
    },
    workloads: {
      type: "string",
      value: "A,B",
      default: "openkruise,argo",
      description: "projects whose kinds the hub stores as templates: openkruise, argo, or none",
    },
    "allow-no-execute-taint-policy": {
      type: "boolean",
      description: "whether ClusterTaintPolicies may set taints that evict",
    },
    "controller-users": {
      type: "string",
      value: "A,B",
      description: "users whose writes are those of the controllers (default: the service account of the installation)",
    },
    "api-services": {
      type: "boolean",
      description: "also create the APIServices, for an installation without them: the Helm chart",
    },
    "metrics-address": {
      type: "string",
      value: "HOST:PORT",
      description: "serve /metrics, /healthz and /readyz there, for example 127.0.0.1:9104",
    },
    ...logFlags,
  },
  async run({ flags, output, signal, roles }) {
    if (!flags.kubeconfig && !flags["in-cluster"])
      throw new UsageError(
        "--kubeconfig FILE or --in-cluster is required: the cluster that 'flotilla install' made a hub",
      );
    const running = await roles.webhooks(
      {
        kubeconfig: flags["in-cluster"] ? undefined : flags.kubeconfig,
        namespace: flags.namespace,
        port: flags.port,
        bindAddress: flags["bind-address"],
        tlsSans: namesIn(flags["tls-san"]) ?? [],
        projects: projectsIn(flags.workloads),
        allowNoExecuteTaintPolicy: flags["allow-no-execute-taint-policy"],
        makesApiServices: flags["api-services"],
        controllerUsers: namesIn(flags["controller-users"]) ?? [accountUser(flags.namespace, CONTROLLERS_NAME)],
        metricsAddress: flags["metrics-address"],
        ...logOptions(flags),
      },
      (text) => output.progress(text),
      signal,
    );
    await Promise.race([running.ready, running.ended]);
    output.progress("");
    const { server, port, isAggregated } = running;
    if (!signal.aborted)
      output.result({ server, port, aggregated: isAggregated }, () =>
        [
          `${output.paint.green("ready")}  port ${port}  answers for ${server}${isAggregated ? "" : ", without the proxy of Clusters and explanations"}`,
          "",
          "Ctrl-C stops.",
        ].join("\n"),
      );
    await running.ended;
  },
});

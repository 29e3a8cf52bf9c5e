/**
 * Common uses of stock karmadactl, in a sensible order: the same list was run against a real Karmada 1.18 (its answers
 * are in `testdata/karmadactl/karmada.json`) and is run against Flotilla. Members run simulated pods in both cases.
 *
 * A word in braces represents a file: `{box.yaml}` a manifest, `{member1}` and `{joining}` kubeconfigs.
 */

export interface Step {
  /** The words after `karmadactl`, separated by one space; a list if a word contains spaces. */
  run: string | readonly string[];
  /** The kubeconfig to use; defaults to the hub's. */
  on?: "member1" | "joining";
  stdin?: string;
  /** Repeated until it prints this, because the result takes a moment. */
  until?: RegExp;
  /** A command that does not terminate is stopped when it has printed this. */
  endsAfter?: RegExp;
  /** Members are queried in parallel, so the order of their answers does not matter. */
  anyOrder?: true;
  /** Only these lines are compared, for long output that mostly depends on versions. */
  only?: RegExp;
}

export interface Chapter {
  name: string;
  steps: readonly Step[];
}

const scope = "--operation-scope members";

export const CHAPTERS: readonly Chapter[] = [
  {
    name: "apply",
    steps: [
      { run: "apply -f {namespace.yaml}" },
      { run: "apply -f {shop.yaml}" },
      { run: "apply -f {shop.yaml}" },
      { run: "apply -f {box.yaml} -C nowhere" },
      { run: "apply -f {box.yaml} -C member1 --all-clusters" },
      { run: "apply -f {box.yaml} -C member1 --dry-run=server" },
      { run: "apply -f {box.yaml} -C member1" },
      { run: "apply -f {box.yaml} -C member1 --server-side --force-conflicts" },
      { run: "apply -f {settings.yaml} --all-clusters" },
      { run: "apply -f {settings.yaml} --all-clusters" },
      { run: "get propagationpolicies -n shop -o name" },
      { run: "get clusterpropagationpolicies -o name" },
    ],
  },
  {
    name: "get",
    steps: [
      { run: "get deployment web -n shop", until: /4\/4/ },
      { run: `get pod box -n shop ${scope} -C member1`, until: /2\/2/ },
      {
        run: `get configmap settings -n shop ${scope}`,
        until: /member1[^]*member2|member2[^]*member1/,
        anyOrder: true,
      },
      { run: "get deployments -n shop" },
      { run: "get deployments -n shop -o wide" },
      { run: "get deployments -n shop -o name" },
      { run: "get deployments -n shop --show-labels" },
      { run: "get deployments -A" },
      { run: "get deployments -n shop -l app=none" },
      { run: "get deployments -n shop -l app=web -o jsonpath={.items[*].spec.replicas}" },
      { run: `get deployments -n shop ${scope}`, anyOrder: true },
      { run: `get deployments -n shop ${scope} -o wide`, anyOrder: true },
      { run: "get deployments -n shop --operation-scope all", anyOrder: true },
      { run: "get deployments -n shop --operation-scope all -C member2", anyOrder: true },
      { run: `get deployments -A ${scope} -C member1 -l app=web` },
      { run: `get deployments web -n shop ${scope} -C member1 -o jsonpath={.spec.replicas}` },
      { run: `get deployments -n shop ${scope} -C member1 -o name` },
      { run: `get deployments,configmaps -n shop ${scope} -C member2 -l app=web` },
      { run: `get deployment nothing -n shop ${scope}`, anyOrder: true },
      { run: `get deployment nothing -n shop ${scope} --ignore-not-found` },
      { run: `get deployments -n shop ${scope} -C nowhere` },
      { run: "get deployments -n shop --operation-scope nobody" },
      { run: `get nonsense ${scope} -C member1` },
      { run: `get pods -n shop ${scope} -l app=web`, anyOrder: true },
      { run: "get pods -n none" },
      { run: "get clusters" },
      { run: "get clusters -o wide" },
      { run: "get cluster member1 -o jsonpath={.spec.syncMode}" },
      { run: "get resourcebindings -n shop", until: /web-deployment\s+\S+\s+True\s+True/ },
      { run: "get clusterresourcebindings shop-reader-clusterrole" },
      { run: "get works -n karmada-es-member1 -l app=none" },
      { run: "get deployment web -n shop -w", endsAfter: /web/ },
      { run: `get deployments -n shop ${scope} -C member1 -w`, endsAfter: /web/ },
      { run: "get deployments -n shop --watch --output-watch-events", endsAfter: /web/ },
    ],
  },
  {
    name: "describe",
    steps: [
      // Labels of members' objects are not compared.
      {
        run: `describe configmap settings -n shop ${scope} --cluster member1`,
        only: /^(?!Labels|Annotations|  \S+karmada\.io|  flotilla|  kubectl)/,
      },
      {
        run: `describe deployment web -n shop ${scope} --cluster member2`,
        only: /^(?!Labels|Annotations|  \S+karmada\.io|  flotilla|  kubectl)/,
      },
      { run: "describe configmap settings -n shop" },
      {
        run: "describe deployment web -n shop",
        only: /^(Name|Namespace|Labels|Replicas|Pod Template|  Containers|    Image)/,
      },
      {
        run: "describe cluster member1",
        only: /^(Name|Kind|API Version|  Sync Mode|    Reason:.*Ready|    Type:\s+Ready)/,
      },
      {
        run: "describe propagationpolicy web -n shop",
        only: /^(Name|Namespace|Kind|API Version|Spec|  Placement|    Cluster Affinity|  Conflict|  Priority|  Preemption|  Scheduler Name)/,
      },
      {
        run: `describe pods -n shop -l app=box ${scope} -C member1`,
        only: /^(Name|Namespace|Status|  (main|side):$|    Image:|    Ready:)/,
      },
      { run: `describe deployment nothing -n shop ${scope} --cluster member1` },
      { run: `describe deployment web -n shop ${scope} --cluster nowhere` },
      { run: `describe deployment web -n shop ${scope}` },
    ],
  },
  {
    name: "join and unjoin",
    steps: [
      {
        run: "join member3 --cluster-kubeconfig {joining} --cluster-provider cloud --cluster-region eu --cluster-zones eu-1,eu-2",
      },
      { run: "get cluster member3", until: /True/ },
      {
        run: "get cluster member3 -o jsonpath={.spec.provider},{.spec.region},{.spec.zones},{.spec.secretRef},{.spec.impersonatorSecretRef}",
      },
      { run: "get secrets -n karmada-cluster -o name", only: /member3/ },
      { run: "get serviceaccounts -n karmada-cluster -o name", on: "joining" },
      { run: "get clusterroles karmada-controller-manager:karmada-member3 -o jsonpath={.rules}", on: "joining" },
      { run: "join member3 --cluster-kubeconfig {joining}" },
      { run: "join member4 --cluster-kubeconfig {joining}" },
      { run: "join member4 --cluster-kubeconfig {namespace.yaml}" },
      { run: `get namespaces default ${scope} -C member3`, until: /default/ },
      { run: "unjoin member3 --cluster-kubeconfig {joining} --cluster-context member1 --dry-run" },
      { run: "unjoin member3 --cluster-kubeconfig {joining} --cluster-context member1" },
      { run: "get cluster member3" },
      { run: "unjoin member3 --cluster-kubeconfig {joining} --cluster-context member1" },
      { run: "get serviceaccounts -n karmada-cluster -o name --ignore-not-found", on: "joining" },
    ],
  },
  {
    name: "cordon, uncordon and taint",
    steps: [
      { run: "cordon member1 --dry-run" },
      { run: "cordon member1" },
      { run: "cordon member1" },
      { run: "get cluster member1 -o jsonpath={.spec.taints[*].key}" },
      { run: "uncordon member1" },
      { run: "uncordon member1" },
      { run: "cordon nowhere" },
      { run: "taint clusters member1 dedicated=special:NoSchedule --dry-run" },
      { run: "taint clusters member1 dedicated=special:NoSchedule" },
      { run: "taint clusters member1 dedicated=special:NoSchedule" },
      { run: "taint clusters member1 dedicated=other:NoSchedule --overwrite" },
      { run: "get cluster member1 -o jsonpath={.spec.taints[*].value}" },
      { run: "taint clusters member1 dedicated:NoSchedule-" },
      { run: "taint clusters member1 dedicated:NoSchedule-" },
      { run: "taint clusters member1 bar:NoExecute" },
      { run: "taint clusters member1 bar-" },
      { run: "taint clusters member1 foo=bar:Sometimes" },
      { run: "taint clusters nowhere foo=bar:NoSchedule" },
    ],
  },
  {
    name: "logs, exec and attach",
    steps: [
      { run: "logs box -n shop -C member1 -c main", until: /hello from main/ },
      { run: "logs box -n shop -C member1" },
      { run: "logs box -n shop -C member1 --all-containers --prefix" },
      { run: "logs box -n shop -C member1 -c side --tail 1" },
      { run: "logs box -n shop -C member1 -c side --timestamps --limit-bytes 20", only: /^$/ },
      { run: "logs box -n shop -C member1 -c main -f", endsAfter: /hello from main/ },
      { run: "logs -n shop -l app=box -C member1 -c main --tail 1" },
      { run: "logs deployment/web -n shop -C member2 --tail 1" },
      { run: "logs nothing -n shop -C member1" },
      { run: "logs box -n shop -C member1 -c none" },
      { run: "logs box -n shop -C nowhere" },
      { run: "logs box -n shop" },
      { run: "logs box -n shop -C member1 -c main --previous" },
      { run: `exec box -n shop ${scope} --cluster member1 -c main -- hostname` },
      { run: `exec box -n shop ${scope} --cluster member1 -- hostname` },
      {
        run: [
          "exec",
          "box",
          "-n",
          "shop",
          "--operation-scope",
          "members",
          "--cluster",
          "member1",
          "-c",
          "main",
          "--",
          "sh",
          "-c",
          "echo out; exit 3",
        ],
      },
      { run: `exec box -n shop ${scope} --cluster member1 -c main -i -- hostname`, stdin: "words\n" },
      { run: `exec box -n shop ${scope} --cluster member1 -c main -it -- hostname`, stdin: "" },
      { run: `exec box -n shop ${scope} --cluster member1 -c main -- curl example.com` },
      { run: `exec box -n shop ${scope} --cluster member1 -c none -- hostname` },
      { run: `exec nothing -n shop ${scope} --cluster member1 -- hostname` },
      { run: `exec box -n shop ${scope} -- hostname` },
      { run: `exec deployment/web -n shop ${scope} --cluster member2 -- echo hi` },
      { run: `attach box -n shop ${scope} --cluster member1 -c main`, endsAfter: /hello from main/ },
      {
        run: `attach box -n shop ${scope} --cluster member1 -c main -i`,
        stdin: "words\n",
        endsAfter: /hello from main/,
      },
      { run: `attach nothing -n shop ${scope} --cluster member1` },
      { run: `attach box -n shop ${scope}` },
    ],
  },
  {
    name: "top",
    steps: [
      { run: "top pods -n shop", until: /member1[^]*member2|member2[^]*member1/, anyOrder: true },
      { run: "top pods -n shop -C member1 --containers", anyOrder: true },
      { run: "top pods -n shop -C member1 -l app=box" },
      { run: "top pod box -n shop -C member1" },
      { run: "top pods -A -C member2 --sum --no-headers", anyOrder: true, only: /^(?!\s+\d+m\s)/ },
      { run: "top pods -n shop --sort-by cpu -C member1 -l app=box --use-protocol-buffers=false" },
      { run: "top pods -n shop -C nowhere" },
      { run: "top pod nothing -n shop -C member1" },
      { run: "top pods -n none -C member1" },
      { run: "top nodes --clusters member1", only: /^NAME/ },
      { run: "top nodes", only: /^NAME/ },
      { run: "top nodes --show-capacity --clusters member2", only: /^NAME/ },
      { run: "top node nothing --clusters member1" },
    ],
  },
  {
    name: "promote",
    steps: [
      { run: "create -f {legacy.yaml}", on: "member1" },
      { run: "get deployment legacy -n shop", on: "member1", until: /1\/1/ },
      { run: `get configmap plain -n shop ${scope} -C member1 -o yaml` },
      { run: `get configmap plain -n shop ${scope} -C member1 -o json` },
      { run: "promote deployment legacy -n shop -C member1 -o yaml" },
      { run: "promote clusterrole legacy-reader -C member1 -o json" },
      { run: "promote deployment legacy -n shop -C member1 --dry-run" },
      { run: "get deployment legacy -n shop" },
      { run: "promote deployment legacy -n shop -C member1 -d" },
      { run: `get deployment legacy -n shop ${scope}`, until: /legacy.*Y/ },
      { run: "get configmap legacy-config -n shop -o jsonpath={.data.mode}" },
      { run: "get secret legacy-secret -n shop -o jsonpath={.data.password}" },
      { run: "get propagationpolicies -n shop -o name" },
      { run: "promote deployment legacy -n shop -C member1" },
      { run: "promote configmap plain -n shop -C member1 --policy-name keep-plain" },
      { run: "get propagationpolicy keep-plain -n shop -o jsonpath={.spec}" },
      { run: "promote clusterrole legacy-reader -C member1 --auto-create-policy=false" },
      { run: "promote deployment nothing -n shop -C member1" },
      { run: "promote deployment legacy -n shop -C nowhere" },
      { run: "promote deployment legacy -n shop" },
      { run: "promote configmap plain -n shop -C member1 --cluster-kubeconfig {member1}" },
    ],
  },
  {
    name: "interpret",
    steps: [
      { run: "interpret -f {customization.yaml} --check" },
      { run: "interpret -f {broken-customization.yaml} --check" },
      {
        run: "interpret -f {customization.yaml} --operation retain --desired-file {desired-cloneset.yaml} --observed-file {observed-cloneset.yaml}",
      },
      {
        run: "interpret -f {customization.yaml} --operation interpretReplica --observed-file {observed-cloneset.yaml}",
      },
      {
        run: "interpret -f {customization.yaml} --operation reviseReplica --observed-file {observed-cloneset.yaml} --desired-replica 7",
      },
      { run: "interpret -f {customization.yaml} --operation interpretHealth --observed-file {observed-cloneset.yaml}" },
      { run: "interpret -f {customization.yaml} --operation interpretStatus --observed-file {observed-cloneset.yaml}" },
      {
        run: "interpret -f {customization.yaml} --operation interpretDependency --observed-file {observed-cloneset.yaml}",
      },
      { run: "interpret -f {customization.yaml} --operation nonsense --observed-file {observed-cloneset.yaml}" },
      { run: "apply -f {customization.yaml}" },
      { run: "interpret cloneset --check" },
      { run: "interpret nothing --check" },
      { run: "interpret cloneset --edit" },
      { run: "interpret --check" },
      { run: "delete resourceinterpretercustomization cloneset" },
      { run: "apply -f {broken-customization.yaml}" },
    ],
  },
  {
    name: "what the server is",
    steps: [
      { run: "api-resources --api-group policy.karmada.io" },
      { run: "api-resources --api-group work.karmada.io -o wide" },
      { run: "api-resources --api-group cluster.karmada.io -o wide" },
      { run: "api-resources --api-group apps.karmada.io -o wide" },
      { run: "api-resources --api-group config.karmada.io -o wide" },
      { run: `api-resources ${scope} --cluster member1 --api-group apps -o name` },
      { run: `api-resources ${scope} --cluster member1 --namespaced=false --api-group storage.k8s.io -o name` },
      { run: `api-resources ${scope} --cluster member1 -o wide` },
      { run: `api-resources ${scope}` },
      { run: `api-resources ${scope} --cluster nowhere` },
      { run: `api-versions ${scope} --cluster member1`, only: /^(v1|apps\/v1|batch\/v1|metrics.k8s.io\/v1beta1)$/ },
      { run: "api-versions", only: /karmada.io/ },
      {
        run: "explain propagationpolicy.spec.placement.clusterTolerations",
        only: /^(GROUP|KIND|VERSION|FIELD|FIELDS|  \S+\t)/,
      },
      { run: "explain deployments.spec.strategy", only: /^(GROUP|KIND|VERSION|FIELD|FIELDS|  \S+\t)/ },
      {
        run: `explain pods.spec.tolerations ${scope} --cluster member1`,
        only: /^(GROUP|KIND|VERSION|FIELD|FIELDS|  \S+\t)/,
      },
      {
        run: `explain deployments.spec ${scope} --cluster member1 --recursive`,
        only: /^(GROUP|KIND|VERSION|FIELD|FIELDS|\s+\S+\t)/,
      },
      {
        run: `explain clonesets.spec.updateStrategy ${scope} --cluster member1`,
        only: /^(GROUP|KIND|VERSION|FIELD|FIELDS|  \S+\t)/,
      },
      { run: `explain nonsense ${scope} --cluster member1` },
    ],
  },
  {
    name: "members that cannot be reached",
    steps: [
      { run: "apply -f {unreachable.yaml}" },
      { run: "get clusters mute lost dead -o name" },
      { run: `get pods -n shop ${scope} -C mute` },
      { run: `get pods -n shop ${scope} -C lost` },
      { run: `get pods -n shop ${scope} -C dead` },
      { run: `get pods -n shop ${scope} -C member1,dead -l app=box` },
      { run: "logs box -n shop -C dead" },
      { run: `exec box -n shop ${scope} --cluster dead -- hostname` },
      { run: "top pods -n shop -C dead" },
      { run: "promote deployment legacy -n shop -C dead" },
      { run: "delete clusters mute lost dead --wait=false" },
      { run: "get clusters -o name", until: /^(?![^]*(mute|lost|dead))/ },
    ],
  },
  {
    name: "tokens",
    steps: [
      { run: "token create --description words" },
      { run: "token list" },
      { run: "token create --print-register-command" },
      { run: "token delete abcdef" },
      { run: "token delete nonsense" },
    ],
  },
  {
    name: "as kubectl",
    steps: [
      { run: "create configmap notes -n shop --from-literal=a=b" },
      { run: "label configmap notes -n shop tier=low" },
      { run: "annotate configmap notes -n shop who=me" },
      { run: ["patch", "configmap", "notes", "-n", "shop", "--type", "merge", "-p", '{"data":{"a":"c"}}'] },
      { run: "get configmap notes -n shop -o jsonpath={.data.a},{.metadata.labels.tier},{.metadata.annotations.who}" },
      { run: "edit configmap notes -n shop" },
      { run: "delete configmap notes -n shop" },
      { run: "delete configmap notes -n shop" },
      { run: "delete configmap settings -n shop" },
      { run: `get configmap settings -n shop ${scope}`, until: /^$/, anyOrder: true },
    ],
  },
];

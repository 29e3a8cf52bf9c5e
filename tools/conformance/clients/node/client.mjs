/** Checks of @kubernetes/client-node. Arguments: the kubeconfig and a namespace. */
import { setTimeout as delay } from "node:timers/promises";
import { Writable } from "node:stream";
import * as k8s from "@kubernetes/client-node";

const [kubeconfig, namespace] = process.argv.slice(2);
const config = new k8s.KubeConfig();
config.loadFromFile(kubeconfig);
const core = config.makeApiClient(k8s.CoreV1Api);
const apps = config.makeApiClient(k8s.AppsV1Api);

async function check(name, action) {
  try {
    const result = await action();
    if (result === false) throw new Error("not the expected result");
    process.stdout.write(`ok ${name}\n`);
    return result;
  } catch (error) {
    process.stdout.write(`failed ${name}: ${String(error.message ?? error).split("\n")[0]}\n`);
    return undefined;
  }
}

const labels = { app: "web" };
const deployment = {
  metadata: { name: "web" },
  spec: {
    replicas: 1,
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [{ name: "c", image: "web:1" }] } },
  },
};

async function readyPod() {
  for (let attempt = 0; attempt < 120; attempt++) {
    const { items } = await core.listNamespacedPod({ namespace, labelSelector: "app=web" });
    const pod = items.find(({ status }) =>
      status?.conditions?.some(({ type, status: s }) => type === "Ready" && s === "True"),
    );
    if (pod) return pod.metadata.name;
    await delay(250);
  }
  throw new Error("no pod became ready");
}

async function execOutput(pod) {
  let text = "";
  const output = new Writable({ write: (chunk, _encoding, done) => ((text += chunk), done()) });
  await new Promise((resolve, reject) => {
    new k8s.Exec(config).exec(namespace, pod, "c", ["hostname"], output, null, null, false, resolve).catch(reject);
  });
  return text.trim() === pod;
}

async function informed() {
  const informer = k8s.makeInformer(config, `/api/v1/namespaces/${namespace}/configmaps`, () =>
    core.listNamespacedConfigMap({ namespace }),
  );
  const seen = new Promise((resolve) =>
    informer.on("add", ({ metadata }) => metadata.name === "data" && resolve(true)),
  );
  await informer.start();
  const result = await Promise.race([seen, delay(5000, false)]);
  await informer.stop();
  return result;
}

await check("create namespace", () => core.createNamespace({ body: { metadata: { name: namespace } } }));
await check("create deployment", () => apps.createNamespacedDeployment({ namespace, body: deployment }));
const pod = await check("wait for a pod", readyPod);
await check("exec", () => execOutput(pod));
await check("logs", () => core.readNamespacedPodLog({ namespace, name: pod }));
await check("create configmap", () =>
  core.createNamespacedConfigMap({ namespace, body: { metadata: { name: "data" }, data: { a: "b" } } }),
);
await check("informer", informed);
await check("dynamic read", () =>
  k8s.KubernetesObjectApi.makeApiClient(config).read({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "data", namespace },
  }),
);
await check("delete namespace", () => core.deleteNamespace({ name: namespace }));
process.exit(0);

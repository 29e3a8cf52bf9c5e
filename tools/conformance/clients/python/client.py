"""Checks of the Python client. Arguments: the kubeconfig and a namespace."""
import sys
import time

from kubernetes import client, config, dynamic, watch
from kubernetes.stream import portforward, stream

kubeconfig, namespace = sys.argv[1:3]
config.load_kube_config(kubeconfig)
core, apps = client.CoreV1Api(), client.AppsV1Api()


def check(name, action):
    try:
        result = action()
        if result is False:
            raise AssertionError("not the expected result")
        print("ok", name, flush=True)
        return result
    except Exception as error:  # Every failure is a result.
        print(f"failed {name}: {str(error).splitlines()[0] if str(error) else type(error).__name__}", flush=True)
        return None


def deployment():
    labels = {"app": "web"}
    container = client.V1Container(name="c", image="web:1", ports=[client.V1ContainerPort(container_port=80)])
    template = client.V1PodTemplateSpec(metadata=client.V1ObjectMeta(labels=labels), spec=client.V1PodSpec(containers=[container]))
    spec = client.V1DeploymentSpec(replicas=1, selector=client.V1LabelSelector(match_labels=labels), template=template)
    return client.V1Deployment(metadata=client.V1ObjectMeta(name="web"), spec=spec)


def ready_pod():
    for _ in range(120):
        for pod in core.list_namespaced_pod(namespace, label_selector="app=web").items:
            if any(c.type == "Ready" and c.status == "True" for c in pod.status.conditions or []):
                return pod.metadata.name
        time.sleep(0.25)
    raise TimeoutError("no pod became ready")


def forwarded(pod):
    connection = portforward(core.connect_get_namespaced_pod_portforward, pod, namespace, ports="80").socket(80)
    connection.setblocking(True)
    connection.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    return b"simulated" in connection.recv(1024)


def watched():
    for event in watch.Watch().stream(core.list_namespaced_config_map, namespace, timeout_seconds=5):
        if event["object"].metadata.name == "data":
            return True
    return False


check("create namespace", lambda: core.create_namespace(client.V1Namespace(metadata=client.V1ObjectMeta(name=namespace))))
check("create deployment", lambda: apps.create_namespaced_deployment(namespace, deployment()))
pod = check("wait for a pod", ready_pod)
check("exec", lambda: pod in stream(core.connect_get_namespaced_pod_exec, pod, namespace, command=["hostname"], stdout=True, stderr=False, stdin=False, tty=False))
check("logs", lambda: core.read_namespaced_pod_log(pod, namespace))
check("port-forward", lambda: forwarded(pod))
check("scale", lambda: apps.patch_namespaced_deployment_scale("web", namespace, {"spec": {"replicas": 2}}))
check("create configmap", lambda: core.create_namespaced_config_map(namespace, client.V1ConfigMap(metadata=client.V1ObjectMeta(name="data"), data={"a": "b"})))
check("watch", watched)
check("dynamic client", lambda: dynamic.DynamicClient(client.ApiClient()).resources.get(api_version="v1", kind="ConfigMap").get(name="data", namespace=namespace))
check("server-side apply", lambda: dynamic.DynamicClient(client.ApiClient()).resources.get(api_version="v1", kind="ConfigMap").server_side_apply(namespace=namespace, name="data", field_manager="python", force_conflicts=True, body={"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "data"}, "data": {"c": "d"}}))
check("evict", lambda: core.create_namespaced_pod_eviction(pod, namespace, client.V1Eviction(metadata=client.V1ObjectMeta(name=pod))))
check("flowcontrol", lambda: client.FlowcontrolApiserverV1Api().read_flow_schema("catch-all"))
check("delete namespace", lambda: core.delete_namespace(namespace))

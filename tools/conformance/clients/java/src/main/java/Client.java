import io.kubernetes.client.Exec;
import io.kubernetes.client.informer.ResourceEventHandler;
import io.kubernetes.client.informer.SharedInformerFactory;
import io.kubernetes.client.openapi.ApiClient;
import io.kubernetes.client.openapi.apis.AppsV1Api;
import io.kubernetes.client.openapi.apis.CoreV1Api;
import io.kubernetes.client.openapi.models.*;
import io.kubernetes.client.util.Config;
import io.kubernetes.client.util.generic.GenericKubernetesApi;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Checks of the Java client. Arguments: the kubeconfig and a namespace. */
public class Client {
  interface Action {
    void run() throws Exception;
  }

  static void check(String name, Action action) {
    try {
      action.run();
      System.out.println("ok " + name);
    } catch (Exception error) {
      System.out.println("failed " + name + ": " + String.valueOf(error.getMessage()).split("\n")[0]);
    }
  }

  static String pod = "";

  public static void main(String[] args) throws Exception {
    ApiClient client = Config.fromConfig(args[0]);
    String namespace = args[1];
    CoreV1Api core = new CoreV1Api(client);
    AppsV1Api apps = new AppsV1Api(client);
    Map<String, String> labels = Map.of("app", "web");

    check("create namespace", () -> core.createNamespace(new V1Namespace().metadata(new V1ObjectMeta().name(namespace))).execute());
    check("create deployment", () -> apps.createNamespacedDeployment(namespace, new V1Deployment().metadata(new V1ObjectMeta().name("web"))
        .spec(new V1DeploymentSpec().replicas(1).selector(new V1LabelSelector().matchLabels(labels))
            .template(new V1PodTemplateSpec().metadata(new V1ObjectMeta().labels(labels))
                .spec(new V1PodSpec().containers(List.of(new V1Container().name("c").image("web:1"))))))).execute());
    check("wait for a pod", () -> {
      for (int i = 0; i < 120; i++) {
        for (V1Pod each : core.listNamespacedPod(namespace).labelSelector("app=web").execute().getItems())
          if ("Running".equals(each.getStatus().getPhase())) pod = each.getMetadata().getName();
        if (!pod.isEmpty()) return;
        Thread.sleep(250);
      }
      throw new Exception("no pod runs");
    });
    check("exec", () -> {
      Process process = new Exec(client).exec(namespace, pod, new String[] {"hostname"}, false, false);
      String output = new String(process.getInputStream().readAllBytes()).trim();
      process.waitFor();
      if (!output.equals(pod)) throw new Exception("output '" + output + "'");
    });
    check("informer", () -> {
      SharedInformerFactory factory = new SharedInformerFactory(client);
      CountDownLatch seen = new CountDownLatch(1);
      factory.sharedIndexInformerFor(new GenericKubernetesApi<>(V1ConfigMap.class, V1ConfigMapList.class, "", "v1", "configmaps", client), V1ConfigMap.class, 0, namespace)
          .addEventHandler(new ResourceEventHandler<>() {
            public void onAdd(V1ConfigMap object) {
              if ("data".equals(object.getMetadata().getName())) seen.countDown();
            }
            public void onUpdate(V1ConfigMap before, V1ConfigMap after) {}
            public void onDelete(V1ConfigMap object, boolean unknown) {}
          });
      factory.startAllRegisteredInformers();
      core.createNamespacedConfigMap(namespace, new V1ConfigMap().metadata(new V1ObjectMeta().name("data"))).execute();
      if (!seen.await(15, TimeUnit.SECONDS)) throw new Exception("no event");
      factory.stopAllRegisteredInformers();
    });
    check("delete namespace", () -> core.deleteNamespace(namespace).execute());
    System.exit(0);
  }
}

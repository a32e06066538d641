// The program of ../own-stack in TypeScript: a network and a key, EBS volumes and an EFS volume in them, and a job that
// uses the volumes. With `pulumi config set tagsFrom ORGANIZATION/PROJECT/STACK` the tags are that stack's output `tags`.
import * as aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";
import { CsiPlugin, EbsVolume, EfsVolume, types } from "nomad-csi";

const config = new pulumi.Config();
const tagsFrom = config.get("tagsFrom");
const tags: pulumi.Input<Record<string, string>> = tagsFrom
    ? new pulumi.StackReference(tagsFrom).requireOutput("tags")
    : { team: "shop" };
type TaskDriver = types.input.TaskDriverArgs;
const taskDrivers = config.getObject<Record<string, TaskDriver>>("taskDrivers") ?? {
    ebs: { name: "docker" },
    efs: { name: "docker" },
};

// The network of the Nomad clients: a subnet in each zone.
const vpc = new aws.ec2.Vpc("clients", { cidrBlock: "10.20.0.0/16", enableDnsHostnames: true, tags });
const subnets = ["us-east-1a", "us-east-1b"].map(
    (zone, number) =>
        new aws.ec2.Subnet(zone, { vpcId: vpc.id, cidrBlock: `10.20.${number}.0/24`, availabilityZone: zone, tags }),
);

// The clients' role, and the key of their volumes. The plugin's policy allows the key.
const trust = aws.iam.getPolicyDocumentOutput({
    statements: [
        { actions: ["sts:AssumeRole"], principals: [{ type: "Service", identifiers: ["ec2.amazonaws.com"] }] },
    ],
});
const role = new aws.iam.Role("clients", { assumeRolePolicy: trust.json, tags });
const key = new aws.kms.Key("volumes", { description: "EBS volumes of the shop", deletionWindowInDays: 7, tags });

const ebs = new CsiPlugin("ebs0", {
    driver: "aws-ebs",
    awsRegion: "us-east-1",
    iam: { roleName: role.name, kmsKeyArns: [key.arn] },
    taskDriver: taskDrivers.ebs,
});
const efs = new CsiPlugin("efs0", { driver: "aws-efs", awsRegion: "us-east-1", taskDriver: taskDrivers.efs });

// One EBS volume for each database, in the zone of the first subnet.
const databases = Object.entries({ orders: 20, stock: 10 }).map(
    ([name, sizeGib]) =>
        new EbsVolume(name, {
            pluginId: ebs.pluginId,
            availabilityZone: subnets[0].availabilityZone,
            sizeGib,
            kmsKeyArn: key.arn,
            tags,
            protect: false, // leave this out for volumes with data
        }),
);

// One EFS volume that clients in both zones can mount.
const uploads = new EfsVolume("uploads", {
    pluginId: efs.pluginId,
    mountTargets: subnets.map((one) => ({ availabilityZone: one.availabilityZone, subnetId: one.id })),
    clients: { cidrBlocks: [vpc.cidrBlock] },
    accessPoint: { path: "/uploads", uid: 1000, gid: 1000 },
    tags,
    protect: false,
});

/** Return *block* with the names of Nomad's API. */
function api(block: object) {
    return Object.fromEntries(Object.entries(block).map(([key, value]) => [key[0].toUpperCase() + key.slice(1), value]));
}

// A job that mounts the volumes: `nomad job run -json` takes it, or `nomad.Job` of @pulumi/nomad with `json: true`.
export const job = pulumi.all([...databases, uploads].map((volume) => volume.claim)).apply((claims) => {
    const task = {
        Name: "shop",
        Driver: "docker",
        Config: { image: "example/shop:1" },
        VolumeMounts: claims.map((claim) => api(claim.volumeMount)),
    };
    const volumes = claims.map(({ name, volume }) => [name, { Name: name, ...api(volume) }]);
    const group = { Name: "shop", Volumes: Object.fromEntries(volumes), Tasks: [task] };
    return JSON.stringify({ Job: { ID: "shop", Type: "service", TaskGroups: [group] } });
});
export const externalIds = pulumi.all(databases.map((volume) => volume.externalId));
export const keyArn = databases[0].kmsKeyArn;
export const mountTargets = uploads.mountTargetIds;

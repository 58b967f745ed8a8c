// The rows of `operation.h`. Sub-resources and parameters are those of botocore's model of S3;
// tests/backends/s3 compares them.

#include <algorithm>
#include <array>
#include <cstddef>

#include "backends/s3/operation.h"

namespace fenceline::backends::s3 {
namespace {

using Names = std::span<const std::string_view>;

template <std::size_t kBytes>
struct Text {
  // NOLINTNEXTLINE(google-explicit-constructor): written as a literal between angle brackets.
  consteval Text(const char (&text)[kBytes]) { std::ranges::copy(text, bytes.begin()); }
  [[nodiscard]] constexpr std::string_view view() const { return {bytes.data(), kBytes - 1}; }

  std::array<char, kBytes> bytes{};
};

/// A list of names with static storage, written where it is used.
template <Text... kTexts>
constexpr std::array<std::string_view, sizeof...(kTexts)> kNames{kTexts.view()...};

constexpr std::string_view kConfiguration =
    "the configuration of a bucket is not changed through the fence; change it at the server "
    "itself";
constexpr std::string_view kRemovesFence =
    "it makes the server change objects by itself, past the fence; set it at the server itself, if "
    "no fenced object can be meant";
constexpr std::string_view kOpensSideDoor =
    "it can give others a way to the objects past the fence; set it at the server itself";

constexpr std::string_view kCopySource = "x-amz-copy-source";

constexpr Operation service(std::string_view name, std::string_view method, Names markers,
                            Names parameters, std::string_view refused = {}) {
  return {.name = name,
          .method = method,
          .level = Level::kService,
          .markers = markers,
          .parameters = parameters,
          .refused = refused};
}

constexpr Operation read_bucket(std::string_view name, Names markers, Names parameters = {}) {
  return {.name = name,
          .method = "GET",
          .level = Level::kBucket,
          .markers = markers,
          .parameters = parameters};
}

constexpr Operation write_bucket(std::string_view name, std::string_view method, Names markers,
                                 std::string_view refused = kConfiguration) {
  return {.name = name,
          .method = method,
          .level = Level::kBucket,
          .effect = Effect::kBucket,
          .markers = markers,
          .refused = refused};
}

constexpr Operation object(std::string_view name, std::string_view method, Effect effect,
                           Names markers, Names parameters = {}, std::string_view field = {},
                           std::string_view refused = {}) {
  return {.name = name,
          .method = method,
          .level = Level::kObject,
          .effect = effect,
          .keys = Keys::kObject,
          .markers = markers,
          .parameters = parameters,
          .field = field,
          .refused = refused};
}

constexpr auto kVersion = kNames<"versionId">;
constexpr auto kPage = kNames<"continuation-token">;
constexpr auto kContent =
    kNames<"partNumber", "response-cache-control", "response-content-disposition",
           "response-content-encoding", "response-content-language", "response-content-type",
           "response-expires", "versionId">;

using enum Effect;

constexpr std::array kRows{
    service("ListBuckets", "GET", {},
            kNames<"bucket-region", "continuation-token", "max-buckets", "prefix">),
    service("ListDirectoryBuckets", "GET", kNames<"max-directory-buckets">, kPage),
    service("WriteGetObjectResponse", "POST", {}, {},
            "it answers for an Object Lambda, which reads past the fence"),

    Operation{.name = "HeadBucket", .method = "HEAD", .level = Level::kBucket},
    read_bucket("ListObjects", {},
                kNames<"delimiter", "encoding-type", "marker", "max-keys", "prefix">),
    read_bucket("ListObjectsV2", kNames<"list-type">,
                kNames<"continuation-token", "delimiter", "encoding-type", "fetch-owner",
                       "max-keys", "prefix", "start-after">),
    read_bucket("ListObjectVersions", kNames<"versions">,
                kNames<"delimiter", "encoding-type", "key-marker", "max-keys", "prefix",
                       "version-id-marker">),
    read_bucket("ListMultipartUploads", kNames<"uploads">,
                kNames<"delimiter", "encoding-type", "key-marker", "max-uploads", "prefix",
                       "upload-id-marker">),
    Operation{.name = "CreateSession",
              .method = "GET",
              .level = Level::kBucket,
              .markers = kNames<"session">,
              .refused = "it hands out credentials for the server behind the fence; sign each "
                         "request with the access key instead"},
    read_bucket("GetBucketAbac", kNames<"abac">),
    read_bucket("GetBucketAccelerateConfiguration", kNames<"accelerate">),
    read_bucket("GetBucketAcl", kNames<"acl">),
    read_bucket("GetBucketAnalyticsConfiguration", kNames<"analytics", "id">),
    read_bucket("GetBucketCors", kNames<"cors">),
    read_bucket("GetBucketEncryption", kNames<"encryption">),
    read_bucket("GetBucketIntelligentTieringConfiguration", kNames<"id", "intelligent-tiering">),
    read_bucket("GetBucketInventoryConfiguration", kNames<"id", "inventory">),
    read_bucket("GetBucketLifecycleConfiguration", kNames<"lifecycle">),
    read_bucket("GetBucketLocation", kNames<"location">),
    read_bucket("GetBucketLogging", kNames<"logging">),
    read_bucket("GetBucketMetadataConfiguration", kNames<"metadataConfiguration">),
    read_bucket("GetBucketMetadataTableConfiguration", kNames<"metadataTable">),
    read_bucket("GetBucketMetricsConfiguration", kNames<"id", "metrics">),
    read_bucket("GetBucketNotificationConfiguration", kNames<"notification">),
    read_bucket("GetBucketOwnershipControls", kNames<"ownershipControls">),
    read_bucket("GetBucketPolicy", kNames<"policy">),
    read_bucket("GetBucketPolicyStatus", kNames<"policyStatus">),
    read_bucket("GetBucketReplication", kNames<"replication">),
    read_bucket("GetBucketRequestPayment", kNames<"requestPayment">),
    read_bucket("GetBucketTagging", kNames<"tagging">),
    read_bucket("GetBucketVersioning", kNames<"versioning">),
    read_bucket("GetBucketWebsite", kNames<"website">),
    read_bucket("GetObjectLockConfiguration", kNames<"object-lock">),
    read_bucket("GetPublicAccessBlock", kNames<"publicAccessBlock">),
    read_bucket("ListBucketAnalyticsConfigurations", kNames<"analytics">, kPage),
    read_bucket("ListBucketIntelligentTieringConfigurations", kNames<"intelligent-tiering">, kPage),
    read_bucket("ListBucketInventoryConfigurations", kNames<"inventory">, kPage),
    read_bucket("ListBucketMetricsConfigurations", kNames<"metrics">, kPage),

    Operation{.name = "CreateBucket",
              .method = "PUT",
              .level = Level::kBucket,
              .effect = kBucket,
              .refused_fields = kNames<"x-amz-acl", "x-amz-bucket-object-lock", "x-amz-grant-",
                                       "x-amz-object-ownership">},
    write_bucket("DeleteBucket", "DELETE", {}, {}),
    write_bucket("PutBucketAbac", "PUT", kNames<"abac">, kOpensSideDoor),
    write_bucket("PutBucketAccelerateConfiguration", "PUT", kNames<"accelerate">, kOpensSideDoor),
    write_bucket("PutBucketAcl", "PUT", kNames<"acl">, kOpensSideDoor),
    write_bucket("PutBucketAnalyticsConfiguration", "PUT", kNames<"analytics", "id">),
    write_bucket("PutBucketCors", "PUT", kNames<"cors">),
    write_bucket("PutBucketEncryption", "PUT", kNames<"encryption">),
    write_bucket("PutBucketIntelligentTieringConfiguration", "PUT",
                 kNames<"id", "intelligent-tiering">, kRemovesFence),
    write_bucket("PutBucketInventoryConfiguration", "PUT", kNames<"id", "inventory">),
    write_bucket("PutBucketLifecycleConfiguration", "PUT", kNames<"lifecycle">, kRemovesFence),
    write_bucket("PutBucketLogging", "PUT", kNames<"logging">, kRemovesFence),
    write_bucket("PutBucketMetricsConfiguration", "PUT", kNames<"id", "metrics">),
    write_bucket("PutBucketNotificationConfiguration", "PUT", kNames<"notification">),
    write_bucket("PutBucketOwnershipControls", "PUT", kNames<"ownershipControls">, kOpensSideDoor),
    write_bucket("PutBucketPolicy", "PUT", kNames<"policy">, kOpensSideDoor),
    write_bucket("PutBucketReplication", "PUT", kNames<"replication">, kRemovesFence),
    write_bucket("PutBucketRequestPayment", "PUT", kNames<"requestPayment">),
    write_bucket("PutBucketTagging", "PUT", kNames<"tagging">),
    write_bucket(
        "PutBucketVersioning", "PUT", kNames<"versioning">,
        "what a write and a deletion do depends on it, and the guarantee of the route with "
        "it; set it at the server itself and restart"),
    write_bucket("PutBucketWebsite", "PUT", kNames<"website">),
    write_bucket("PutObjectLockConfiguration", "PUT", kNames<"object-lock">),
    write_bucket("PutPublicAccessBlock", "PUT", kNames<"publicAccessBlock">, kOpensSideDoor),
    write_bucket("UpdateBucketMetadataInventoryTableConfiguration", "PUT",
                 kNames<"metadataInventoryTable">),
    write_bucket("UpdateBucketMetadataJournalTableConfiguration", "PUT",
                 kNames<"metadataJournalTable">),
    write_bucket("CreateBucketMetadataConfiguration", "POST", kNames<"metadataConfiguration">),
    write_bucket("CreateBucketMetadataTableConfiguration", "POST", kNames<"metadataTable">),
    write_bucket("DeleteBucketAnalyticsConfiguration", "DELETE", kNames<"analytics", "id">),
    write_bucket("DeleteBucketCors", "DELETE", kNames<"cors">),
    write_bucket("DeleteBucketEncryption", "DELETE", kNames<"encryption">),
    write_bucket("DeleteBucketIntelligentTieringConfiguration", "DELETE",
                 kNames<"id", "intelligent-tiering">),
    write_bucket("DeleteBucketInventoryConfiguration", "DELETE", kNames<"id", "inventory">),
    write_bucket("DeleteBucketLifecycle", "DELETE", kNames<"lifecycle">),
    write_bucket("DeleteBucketMetadataConfiguration", "DELETE", kNames<"metadataConfiguration">),
    write_bucket("DeleteBucketMetadataTableConfiguration", "DELETE", kNames<"metadataTable">),
    write_bucket("DeleteBucketMetricsConfiguration", "DELETE", kNames<"id", "metrics">),
    write_bucket("DeleteBucketOwnershipControls", "DELETE", kNames<"ownershipControls">,
                 kOpensSideDoor),
    write_bucket("DeleteBucketPolicy", "DELETE", kNames<"policy">, kOpensSideDoor),
    write_bucket("DeleteBucketReplication", "DELETE", kNames<"replication">),
    write_bucket("DeleteBucketTagging", "DELETE", kNames<"tagging">),
    write_bucket("DeleteBucketWebsite", "DELETE", kNames<"website">),
    write_bucket("DeletePublicAccessBlock", "DELETE", kNames<"publicAccessBlock">, kOpensSideDoor),

    Operation{.name = "DeleteObjects",
              .method = "POST",
              .level = Level::kBucket,
              .effect = kCommit,
              .keys = Keys::kInBody,
              .markers = kNames<"delete">},
    Operation{.name = "PostObject",
              .method = "POST",
              .level = Level::kBucket,
              .effect = kCommit,
              .keys = Keys::kInBody,
              .refused = "a form of a browser can carry no fencing token; use PUT, perhaps with a "
                         "presigned URL"},

    object("GetObject", "GET", kRead, {}, kContent),
    object("HeadObject", "HEAD", kRead, {}, kContent),
    object("ListParts", "GET", kRead, kNames<"uploadId">,
           kNames<"max-parts", "part-number-marker">),
    object("GetObjectAcl", "GET", kRead, kNames<"acl">, kVersion),
    object("GetObjectAttributes", "GET", kRead, kNames<"attributes">, kVersion),
    object("GetObjectLegalHold", "GET", kRead, kNames<"legal-hold">, kVersion),
    object("GetObjectRetention", "GET", kRead, kNames<"retention">, kVersion),
    object("GetObjectTagging", "GET", kRead, kNames<"tagging">, kVersion),
    object("GetObjectTorrent", "GET", kRead, kNames<"torrent">, {}, {},
           "it names peers that give the object away past the fence; use GetObject"),
    object("SelectObjectContent", "POST", kRead, kNames<"select", "select-type">, {}, {},
           "queries inside of objects are not supported; read the object"),

    object("PutObject", "PUT", kCommit, {}),
    object("PutObjectAppend", "PUT", kCommit, {}, {}, "x-amz-write-offset-bytes"),
    object("CopyObject", "PUT", kCommit, {}, {}, kCopySource),
    object("RenameObject", "PUT", kCommit, kNames<"renameObject">, {}, "x-amz-rename-source",
           "it changes two objects, and the fence of a request covers one; copy, then delete"),
    object("DeleteObject", "DELETE", kCommit, {}, kVersion),
    object("PutObjectAcl", "PUT", kCommit, kNames<"acl">, kVersion),
    object("PutObjectLegalHold", "PUT", kCommit, kNames<"legal-hold">, kVersion),
    object("PutObjectRetention", "PUT", kCommit, kNames<"retention">, kVersion),
    object("PutObjectTagging", "PUT", kCommit, kNames<"tagging">, kVersion),
    object("DeleteObjectTagging", "DELETE", kCommit, kNames<"tagging">, kVersion),
    object("UpdateObjectEncryption", "PUT", kCommit, kNames<"encryption">, kVersion, {},
           "a server that does not know it takes it for a PutObject, and its document would become "
           "the content; write the object again, or change it at the server itself"),
    object("RestoreObject", "POST", kCommit, kNames<"restore">, kVersion, {},
           "its document can name another place that is written; restore at the server itself"),

    object("CreateMultipartUpload", "POST", kStage, kNames<"uploads">),
    object("UploadPart", "PUT", kStage, kNames<"partNumber", "uploadId">),
    object("UploadPartCopy", "PUT", kStage, kNames<"partNumber", "uploadId">, {}, kCopySource),
    object("AbortMultipartUpload", "DELETE", kStage, kNames<"uploadId">),
    object("CompleteMultipartUpload", "POST", kCommit, kNames<"uploadId">),
};

}  // namespace

std::span<const Operation> operations() { return kRows; }

}  // namespace fenceline::backends::s3

start() ->
  GroupConfig = [{offset_commit_policy, commit_to_kafka_v2}, {session_timeout_seconds, 10}, {heartbeat_rate_seconds, 20}],
  brod:start_link_group_subscriber(client, <<"g">>, Topics, GroupConfig, [], ?MODULE, []).

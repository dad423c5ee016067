defmodule Pipeline do
  use Broadway
  def start_link(_) do
    Broadway.start_link(__MODULE__, name: __MODULE__,
      producer: [module: {BroadwayKafka.Producer, [hosts: [localhost: 9092], group_id: "g", topics: ["t"],
        group_config: [session_timeout_seconds: 30, heartbeat_rate_seconds: 30]]}])
  end
end

Racecar.configure do |config|
  config.session_timeout = 10
  config.max_poll_interval = 5
end
